"""nvJitLink's calls: what NVIDIA's library would make into machine code stays PTX, linked as cuLinkAddData links it.

Only LTO-IR needs NVIDIA's own code, which makes PTX of it: see lto.py.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps

from warplab.interpreter.ptxas.contraction import Fmad
from warplab.isa.profiles import TARGETS, target_capability

from ...device.memory.host import host
from ...device.modules.archives import fat_binaries, is_archive, is_host_object
from ...device.modules.fatbin import holds_lto, is_fatbin
from ...device.modules.loading import (
    ELF,
    LINKED,
    VERSION,
    CodeOptions,
    ProgramSource,
    link,
    linked_image,
    parsed,
    sources,
    with_libraries,
)
from ...device.modules.targets import check_targets, rules_only
from ...errors import ApiError
from .abi import read_array, write
from .lto import PREFIX, LtoFailed, LtoLink, lto_library
from .special import HandledCall, handles

OTHER = PREFIX + "Other"  # stands for every function of the library that has no answer here
CALLS = f"""\
handle:ptr* numOptions:u32 options:ptr& | {PREFIX}Create
handle:ptr | {PREFIX}Complete
handle:ptr* | {PREFIX}Destroy
handle:ptr inputType:i32 data:ptr size:u64 name:str | {PREFIX}AddData
handle:ptr inputType:i32 fileName:str | {PREFIX}AddFile
handle:ptr size:u64* | {" ".join(f"{PREFIX}Get{what}Size" for what in ("ErrorLog", "InfoLog", "LinkedCubin", "LinkedPtx", "LinkedLTOIR"))}
handle:ptr out:ptr | {" ".join(f"{PREFIX}Get{what}" for what in ("ErrorLog", "InfoLog", "LinkedCubin", "LinkedPtx", "LinkedLTOIR"))}
 | {OTHER}
"""
UNRECOGNISED_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, NVVM_COMPILE, INTERNAL = 1, 2, 3, 4, 5, 6
UNRECOGNISED_INPUT, NULL_INPUT, INCOMPATIBLE_OPTIONS, INCORRECT_INPUT_TYPE = 8, 10, 11, 12
UNRECOGNISED_ARCH, UNSUPPORTED_ARCH, LTO_NOT_ENABLED = 16, 17, 18
CUBIN, PTX, LTO, FATBIN, OBJECT, LIBRARY, INDEX, ANY = 1, 2, 3, 4, 5, 6, 7, 10  # kinds of inputs
KINDS = {CUBIN: "CUBIN", PTX: "PTX", LTO: "LTOIR", FATBIN: "FATBIN", OBJECT: "OBJECT", LIBRARY: "LIBRARY", INDEX: "INDEX"}
# What NVIDIA's library of this version takes; a value is not looked at but where it stands here.
OPTION = re.compile(
    "-(?:arch|maxrregcount|ftz|prec-div|prec-sqrt|fma|kernels-used|variables-used|Xptxas|Xnvvm|split-compile|split-compile-extended|time"
    "|jump-table-density)=.*"
    "|-(?:lto|ptx|ltoir|g|lineinfo|time|verbose|optimize-unused-variables|nvvm-latest|no-cache|r)|-O[03]|-Ofc=(?:0|min|mid|max)",
    re.S,
)
ARCHITECTURE = re.compile(r"(sm|compute|lto)_(\d+)([af]?)")
OLDEST = (7, 5)
LTO_IR = b"\xed\x43\x4e\x7f"  # how a container of it begins
_handles = itertools.count(0x30_0000_0000, 0x10)


@dataclass(eq=False)
class JitLink:
    """What is to be linked."""

    options: list[str]
    inputs: list[ProgramSource] = field(default_factory=list)
    libraries: list[ProgramSource] = field(default_factory=list)
    lto: LtoLink | None = None
    error: str = ""
    image: bytes = b""
    ptx: bytes = b""
    ltoir: bytes = b""

    @property
    def architecture(self) -> str:
        """What -arch says: the last one counts."""
        return next((o.partition("=")[2] for o in reversed(self.options) if o.startswith("-arch=")), "")

    @property
    def device(self) -> str:
        """The architecture as a device."""
        return re.sub("compute_|lto_", "sm_", self.architecture)

    @property
    def told(self) -> CodeOptions:
        """What the options say of the code."""
        words = dict(o.partition("=")[::2] for o in self.options)
        fused: Fmad = "all" if words.get("-fma", "1") != "0" else "none"
        registers = words.get("-maxrregcount", "")
        return CodeOptions(fused if "-fma" in words else None, int(registers) if registers.isdecimal() else 0)

    def fail(self, code: int, why: str) -> int:
        """A call fails: the error log says why."""
        self.error += why + "\n"
        return code


_links: dict[int, JitLink] = {}


def call(name: str) -> Callable[[Callable[[HandledCall], int]], Callable[[HandledCall], int]]:
    """Enters the answer to a call; its codes are not those of the driver, and none of its pointers may be null."""

    def enter(work: Callable[[HandledCall], int]) -> Callable[[HandledCall], int]:
        @wraps(work)
        def answer(c: HandledCall) -> int:
            if any(not c.given[n] for n in ("handle", "size", "out", "fileName") if n in c.given and n + name != "sizeAddData"):
                return NULL_INPUT
            try:
                return work(c)
            except ApiError as e:
                return INVALID_INPUT if e.name == "CUDA_ERROR_INVALID_HANDLE" else INTERNAL

        return handles(PREFIX + name)(answer)

    return enter


@call("Other")
def other(c: HandledCall) -> int:
    """A function that is not known here: with a handle of ours NVIDIA's own would go astray."""
    return INTERNAL


@call("Create")
def create(c: HandledCall) -> int:
    """A link for an architecture; there is one to ask for the error log also where the options are wrong."""
    g = c.given
    if g["numOptions"] and not g["options"]:
        return NULL_INPUT
    handle = next(_handles)
    j = _links[handle] = JitLink([host().string(at).decode(errors="replace") for at in read_array("ptr", g["options"], g["numOptions"])])
    c.out("handle", "ptr", handle)
    return _checked(j)


def _checked(j: JitLink) -> int:
    """Are the options those of a link?"""
    for o in j.options:
        if OPTION.fullmatch(o) is None:
            return j.fail(UNRECOGNISED_OPTION, f"unrecognized option: {o}")
    if not j.architecture:
        return j.fail(MISSING_ARCH, "no architecture is given: add -arch=sm_90")
    m = ARCHITECTURE.fullmatch(j.architecture)
    if m is None:
        return j.fail(UNRECOGNISED_OPTION, f"-arch={j.architecture}: write it as -arch=sm_90")
    if f"sm_{m[2]}" not in TARGETS:
        return j.fail(UNRECOGNISED_ARCH, f"unrecognized architecture: {j.architecture}")
    if j.device not in TARGETS or target_capability(j.device) < OLDEST:
        return j.fail(UNSUPPORTED_ARCH, f"unsupported architecture: {j.architecture}")
    if "-ptx" in j.options and "-lto" not in j.options:
        return j.fail(INCOMPATIBLE_OPTIONS, "-ptx requires -lto")
    if m[1] == "compute" and "-ptx" not in j.options:
        return j.fail(INCOMPATIBLE_OPTIONS, f"-arch={j.architecture}, a virtual architecture, requires -ptx")
    return 0


@call("Destroy")
def destroy(c: HandledCall) -> int:
    """Ends a link."""
    (handle,) = read_array("ptr", c.given["handle"], 1)
    if not handle:
        return NULL_INPUT
    if _links.pop(handle, None) is None:
        return INVALID_INPUT
    c.out("handle", "ptr", 0)
    return 0


def _link(c: HandledCall) -> JitLink:
    found = _links.get(c.given["handle"])
    if found is None:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the handle stands for no link")
    return found


# ---------------------------------------------------------------- inputs


def _kind(data: bytes) -> int:
    """What kind of input some bytes are; 0 for none."""
    if data.startswith(LTO_IR):
        return LTO
    if is_fatbin(data):
        return FATBIN
    if is_archive(data):
        return LIBRARY
    if is_host_object(data):
        return OBJECT
    if data.startswith((ELF, LINKED)):
        return CUBIN
    return PTX if VERSION.match(data) else 0


def _add(j: JitLink, kind: int, data: bytes, name: str, to_library: Callable[[LtoLink, int], int]) -> int:
    """One more input; `to_library` hands it to NVIDIA's library, which is needed for LTO-IR."""
    found = _kind(data)
    if kind == ANY and not found:
        return j.fail(UNRECOGNISED_INPUT, f"unrecognized input: {name}")
    if kind not in (ANY, found) and (kind, found) != (CUBIN, PTX):  # NVRTC hands out PTX where it is asked for machine code
        return j.fail(INCORRECT_INPUT_TYPE, f"{name} is not of the type NVJITLINK_INPUT_{KINDS.get(kind, kind)}")
    lto = "-lto" in j.options
    if found == LTO and not lto:
        return j.fail(LTO_NOT_ENABLED, f"{name} is LTO-IR, which needs the option -lto")
    if found == LTO or (
        lto and found in (FATBIN, OBJECT, LIBRARY) and holds_lto(data if found == FATBIN else b"".join(fat_binaries(data)))
    ):
        if j.lto is None:
            j.lto = LtoLink(lto_library(), j.options)
        return to_library(j.lto, found)
    try:
        parts = sources(data, j.device, name, rules_only())
        if found != LIBRARY:
            for s in parts:
                module = parsed(s.data, s.name)
                if not s.chosen and not rules_only():
                    check_targets(module, j.device)
    except ApiError as e:
        return j.fail(PTX_COMPILE, e.message)
    (j.libraries if found == LIBRARY else j.inputs).extend(parts)
    return 0


@call("AddData")
def add_data(c: HandledCall) -> int:
    """An input in memory."""
    g, j = c.given, _link(c)
    if not g["data"] or not g["size"]:
        return INVALID_INPUT
    name = host().string(g["name"]).decode(errors="replace") if g["name"] else "<input>"
    data = host().read(g["data"], g["size"]).tobytes()
    return _add(j, g["inputType"], data, name, lambda lto, kind: lto.add(kind, g["data"], g["size"], g["name"]))


@call("AddFile")
def add_file(c: HandledCall) -> int:
    """An input in a file."""
    g, j = c.given, _link(c)
    name = host().string(g["fileName"]).decode(errors="surrogateescape")
    try:
        with open(host().path(name), "rb") as file:
            data = file.read()
    except OSError as e:
        return j.fail(INVALID_INPUT, f"{name}: {e.strerror}")
    return _add(j, g["inputType"], data, name, lambda lto, kind: lto.add_file(kind, g["fileName"]))


# ---------------------------------------------------------------- results


@call("Complete")
def complete(c: HandledCall) -> int:
    """Links."""
    j = _link(c)
    try:
        if "-lto" in j.options:
            if "-ptx" in j.options and j.inputs:
                return j.fail(INCORRECT_INPUT_TYPE, "-ptx requires that all inputs are LTO-IR")
            if j.lto is None:
                return j.fail(NVVM_COMPILE, "no input is LTO-IR")
            text, j.ltoir = j.lto.results()
            j.lto = None
            if "-ptx" in j.options:
                j.ptx = text + b"\0"
                return 0
            j.inputs.append(ProgramSource(text, "<LTO-IR>"))
        j.inputs = with_libraries(j.inputs, j.libraries)
        link([parsed(s.data, s.name) for s in j.inputs], complete="-r" not in j.options)
    except LtoFailed as e:
        j.lto = None
        return j.fail(e.code, str(e))
    except ApiError as e:
        return j.fail(INTERNAL, e.message)
    j.image = linked_image(j.inputs, j.told)
    return 0


def _results(name: str, raw: Callable[[JitLink], bytes], option: str = "", needed: bool = True) -> None:
    """Enters the two calls of a result: its size, and itself.  Without the option that it needs it can't be asked for."""

    def found(c: HandledCall) -> tuple[int, bytes]:
        j = _link(c)
        if option and option not in j.options:
            return INVALID_INPUT, b""
        return (0 if raw(j) or not needed else INTERNAL), raw(j)

    @call(f"Get{name}Size")
    def size(c: HandledCall) -> int:
        code, content = found(c)
        if not code:
            c.out("size", "u64", len(content))
        return code

    @call(f"Get{name}")
    def content(c: HandledCall) -> int:
        code, content = found(c)
        if not code:
            write(c.given["out"], content)
        return code


_results("LinkedCubin", lambda j: j.image)
_results("LinkedPtx", lambda j: j.ptx, "-ptx")
_results("LinkedLTOIR", lambda j: j.ltoir, "-lto")
_results("ErrorLog", lambda j: j.error.encode() + b"\0" if j.error else b"", needed=False)
_results("InfoLog", lambda j: b"", needed=False)
