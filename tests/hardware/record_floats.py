"""Runs the float and conversion instructions on a GPU over the operands of tests/data/floats/h200.npz and records their results.

    python3 -m tests.hardware.record_floats OLD.npz NEW.npz    wants numpy, a GPU of compute capability 9.0 or later and its driver

The file holds operand arrays (in_*), one line a form (its spelling and the keys of its operands), and all results end to end.
A changed list of forms or operands is recorded by editing these arrays first; forms that differ from OLD are printed.
"""

import ctypes
import sys
from collections.abc import Sequence

import numpy as np

from .driver import Array, Driver

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
BYTES = {"f64": 8, "u64": 8, "s64": 8, "f16": 2, "bf16": 2, "u16": 2, "s16": 2, "u8": 1, "s8": 1, "e4m3x2": 2, "e5m2x2": 2}


def size_of(kind: str) -> int:
    """The bytes of one element in memory; predicates are stored as 32 bits."""
    return BYTES.get(kind, 4)


def register(kind: str, spelling: str) -> str:
    """The type of the register that holds an operand: bf16 conversions want 8-bit registers, others take wider ones."""
    if kind in ("f32", "f64", "pred"):
        return kind
    if size_of(kind) == 1:
        return "b8" if ".bf16" in spelling else "b32"
    return f"b{8 * size_of(kind)}"


def types_of(spelling: str) -> tuple[str, str]:
    """The types of the result and of the operands."""
    words = spelling.split(".")
    if words[0] == "cvt":
        return words[-2], words[-1]
    return ("pred" if words[0] == "testp" else words[-1]), words[-1]


def entry(number: int, spelling: str, operands: int) -> str:
    """A kernel that applies one instruction to each element."""
    result, source = types_of(spelling)
    lines = [
        f".visible .entry k{number}({', '.join(f'.param .u64 p{i}' for i in range(operands + 1))}, .param .u32 pn)",
        "{ .reg .pred %x; .reg .u32 %i, %c, %t, %n, %v; .reg .u64 %a;",
        "mov.u32 %c, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %c, %t, %i;",
        "ld.param.u32 %n, [pn]; setp.ge.u32 %x, %i, %n; @%x ret;",
    ]
    kind, width = register(source, spelling), size_of(source)
    load = "u8" if width == 1 else kind
    for i in range(operands):
        lines.append(f".reg .{kind} %s{i}; ld.param.u64 %a, [p{i}]; mad.wide.u32 %a, %i, {width}, %a; ld.global.{load} %s{i}, [%a];")
    kind, width = register(result, spelling), size_of(result)
    lines.append(f".reg .{kind} %d; ld.param.u64 %a, [p{operands}]; mad.wide.u32 %a, %i, {width}, %a;")
    lines.append(f"{spelling} %d, {', '.join(f'%s{i}' for i in range(operands))};")
    if result == "pred":
        lines.append("selp.u32 %v, 1, 0, %d; st.global.u32 [%a], %v;")
    else:
        lines.append(f"st.global.{'u8' if width == 1 else kind} [%a], %d;")
    return "\n".join([*lines, "ret; }"])


class Recorder(Driver):
    """Launches the entries of one module."""

    def run(self, module: ctypes.c_void_p, name: str, operands: Sequence[ctypes.c_uint64], width: int, lanes: int) -> Array:
        """One launch; the results as unsigned integers."""
        function, out = ctypes.c_void_p(), np.full(lanes, 0xCD, f"u{width}")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        target = self.upload(out)
        arguments = [*operands, target, ctypes.c_uint32(lanes)]
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.cast(ctypes.byref(x), ctypes.c_void_p) for x in arguments])
        self.call("cuLaunchKernel", function, (lanes + 127) // 128, 1, 1, 128, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), target, ctypes.c_size_t(out.nbytes))
        self.call("cuMemFree_v2", target)
        return out


def main(old: str, new: str) -> None:
    """Records every form of a file."""
    data = dict(np.load(old))
    forms = [line.split() for line in str(data["forms"]).splitlines()]
    driver, module = Recorder(), ctypes.c_void_p()
    text = HEAD + "\n".join(entry(i, spelling, len(keys)) for i, (spelling, *keys) in enumerate(forms))
    driver.call("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
    inputs = {key: driver.upload(np.ascontiguousarray(data[f"in_{key}"])) for _, *keys in forms for key in keys}
    results = []
    for i, (spelling, *keys) in enumerate(forms):
        width, lanes = size_of(types_of(spelling)[0]), data[f"in_{keys[0]}"].size
        results.append(driver.run(module, f"k{i}", [inputs[key] for key in keys], width, lanes).tobytes())
    at = 0
    for (spelling, *_), found in zip(forms, results, strict=True):
        if data["results"][at : at + len(found)].tobytes() != found:
            print("differs:", spelling)
        at += len(found)
    data["results"] = np.frombuffer(b"".join(results), np.uint8)
    np.savez_compressed(new, allow_pickle=False, **data)


if __name__ == "__main__":
    main(*sys.argv[1:])
