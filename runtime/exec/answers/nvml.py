"""NVML's basic calls, about the same devices: how many there are, their names, identifiers and memory.  Its other functions are not there."""

from __future__ import annotations

import struct
import uuid as identifiers
from collections.abc import Callable
from functools import wraps

from ...device.machine import SimulatedDevice, machine
from ...device.memory.host import host
from ...errors import ApiError
from .abi import read_array, write
from .special import DRIVER_VERSION, AnsweredCall, answers

# Each function, and its newer forms of the same parameters.
CALLS = """\
 | nvmlInit nvmlInit_v2 nvmlShutdown
flags:u32 | nvmlInitWithFlags
result:i32 | nvmlErrorString
version:ptr length:u32 | nvmlSystemGetDriverVersion nvmlSystemGetNVMLVersion
cudaDriverVersion:i32* | nvmlSystemGetCudaDriverVersion nvmlSystemGetCudaDriverVersion_v2
deviceCount:u32* | nvmlDeviceGetCount nvmlDeviceGetCount_v2
index:u32 device:ptr* | nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2
uuid:str device:ptr* | nvmlDeviceGetHandleByUUID
device:ptr name:ptr length:u32 | nvmlDeviceGetName
device:ptr uuid:ptr length:u32 | nvmlDeviceGetUUID
device:ptr index:u32* | nvmlDeviceGetIndex
device:ptr memory:ptr | nvmlDeviceGetMemoryInfo nvmlDeviceGetMemoryInfo_v2
device:ptr major:i32* minor:i32* | nvmlDeviceGetCudaComputeCapability
"""
SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_FOUND, INSUFFICIENT_SIZE, VERSION_MISMATCH, UNKNOWN = 0, 1, 2, 6, 7, 25, 999
WORDS = {
    SUCCESS: "Success", UNINITIALIZED: "Uninitialized", INVALID_ARGUMENT: "Invalid Argument", 3: "Not Supported", 4: "Insufficient Permissions",
    5: "Already Initialized", NOT_FOUND: "Not Found", INSUFFICIENT_SIZE: "Insufficient Size", 9: "Driver Not Loaded", 10: "Timeout",
    12: "Shared Library Not Found", 13: "Function Not Found", VERSION_MISMATCH: "Argument version mismatch", UNKNOWN: "Unknown Error",
}  # fmt: skip
DRIVER = "580.159"  # the release whose answers are modelled
MEMORY, MEMORY_2 = struct.Struct("<3Q"), struct.Struct("<I4x4Q")
FIRST = 0x40_0000_0000  # the handle of the first device
STEP = 0x10  # to the next one's
_users: list[None] = []  # one for each time that it was initialised


def call(*names: str, calm: bool = False) -> Callable[[Callable[[AnsweredCall], int]], Callable[[AnsweredCall], int]]:
    """Enters an answer, whose codes are NVML's; one that is not `calm` needs nvmlInit, and none of its pointers may be null."""

    def enter(work: Callable[[AnsweredCall], int]) -> Callable[[AnsweredCall], int]:
        @wraps(work)
        def answer(c: AnsweredCall) -> int:
            if calm:
                return work(c)
            if not _users:
                return UNINITIALIZED
            if any(not value for name, value in c.given.items() if name not in ("index", "length") or value is None):
                return INVALID_ARGUMENT
            try:
                return work(c)
            except ApiError:
                return INVALID_ARGUMENT

        return answers(*names)(answer)

    return enter


@call("nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", calm=True)
def initialise(c: AnsweredCall) -> int:
    """One more user."""
    _users.append(None)
    return SUCCESS


@call("nvmlShutdown")
def shut_down(c: AnsweredCall) -> int:
    """One user less."""
    _users.pop()
    return SUCCESS


@call("nvmlErrorString", calm=True)
def error_string(c: AnsweredCall) -> int:
    """What a code means."""
    return c.strings.string(WORDS.get(c.given["result"], WORDS[UNKNOWN]).encode())


def _text(c: AnsweredCall, name: str, text: str) -> int:
    raw = text.encode() + b"\0"
    if len(raw) > c.given["length"]:
        return INSUFFICIENT_SIZE
    write(c.given[name], raw)
    return SUCCESS


@call("nvmlSystemGetDriverVersion")
def driver_version(c: AnsweredCall) -> int:
    """The release of the driver."""
    return _text(c, "version", DRIVER)


@call("nvmlSystemGetNVMLVersion")
def own_version(c: AnsweredCall) -> int:
    """The release of this library."""
    return _text(c, "version", f"{DRIVER_VERSION // 1000}.{DRIVER}")


@call("nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")
def cuda_version(c: AnsweredCall) -> int:
    """As cuDriverGetVersion."""
    c.out("cudaDriverVersion", "i32", DRIVER_VERSION)
    return SUCCESS


# ---------------------------------------------------------------- devices


def _device(c: AnsweredCall) -> SimulatedDevice:
    ordinal, rest = divmod(c.given["device"] - FIRST, STEP)
    if rest:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the handle stands for no device")
    return machine().device(ordinal)


def _uuid(d: SimulatedDevice) -> str:
    return f"GPU-{identifiers.UUID(bytes=d.uuid)}"


@call("nvmlDeviceGetCount", "nvmlDeviceGetCount_v2")
def count(c: AnsweredCall) -> int:
    """How many devices there are."""
    c.out("deviceCount", "u32", len(machine().devices))
    return SUCCESS


@call("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2")
def by_index(c: AnsweredCall) -> int:
    """A device by its number."""
    c.out("device", "ptr", FIRST + machine().device(c.given["index"]).ordinal * STEP)
    return SUCCESS


@call("nvmlDeviceGetHandleByUUID")
def by_uuid(c: AnsweredCall) -> int:
    """A device by its identifier."""
    wanted = host().string(c.given["uuid"]).decode(errors="replace")
    found = next((d for d in machine().devices if _uuid(d) == wanted), None)
    if found is None:
        return NOT_FOUND
    c.out("device", "ptr", FIRST + found.ordinal * STEP)
    return SUCCESS


@call("nvmlDeviceGetName")
def name(c: AnsweredCall) -> int:
    """The name of a device."""
    return _text(c, "name", _device(c).name)


@call("nvmlDeviceGetUUID")
def uuid(c: AnsweredCall) -> int:
    """The identifier of a device: that of cuDeviceGetUuid, in text."""
    return _text(c, "uuid", _uuid(_device(c)))


@call("nvmlDeviceGetIndex")
def index(c: AnsweredCall) -> int:
    """The number of a device."""
    c.out("index", "u32", _device(c).ordinal)
    return SUCCESS


@call("nvmlDeviceGetCudaComputeCapability")
def capability(c: AnsweredCall) -> int:
    """The compute capability of a device."""
    for part, value in zip(("major", "minor"), _device(c).profile.capability, strict=True):
        c.out(part, "i32", value)
    return SUCCESS


def _memory(d: SimulatedDevice) -> tuple[int, int, int]:
    used = d.arena.used if d.is_used else 0
    return d.memory, d.memory - used, used


@call("nvmlDeviceGetMemoryInfo")
def memory(c: AnsweredCall) -> int:
    """Bytes in all, free and used."""
    write(c.given["memory"], MEMORY.pack(*_memory(_device(c))))
    return SUCCESS


@call("nvmlDeviceGetMemoryInfo_v2")
def memory_2(c: AnsweredCall) -> int:
    """The same in the second form, which has the bytes that the driver reserves: none."""
    version = MEMORY_2.size | 2 << 24
    (given,) = read_array("u32", c.given["memory"], 1)
    if given != version:
        return VERSION_MISMATCH
    total, free, used = _memory(_device(c))
    write(c.given["memory"], MEMORY_2.pack(version, total, 0, free, used))
    return SUCCESS
