"""Kernels that launch kernels: what the driver brings for libcudadevrt, as PTX, and the launches that kernels have queued.

A launch is a record in the device heap: its head, and behind it the parameters, which the kernel writes. The records form a list
that begins in a variable of the program, the last launch first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warplab.assembler.ir import Module
from warplab.interpreter.launch import Dim3
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.program import LoadedProgram

from ..memory.heap import DeviceHeap

PREFIXES = ("__cuda_syscall_cnpv2", "cnp")  # of what libcudadevrt wants, in its two versions
QUEUE = "cnpQueue"
HEAD = struct.Struct("<QQQ7I")  # the launch before, the kernel's address, the stream, grid, block, dynamic shared memory
PARAMETERS = 64  # where they begin in a record
MOST = 4096  # bytes of them
TAIL = 3  # the stream of launches that begin when the kernel and all its others have ended
INVALID, NO_MEMORY, NOT_SUPPORTED = 1, 2, 801  # codes
GRID = "__cuda_syscall_CGS_"

_LAUNCHES = f"""
.extern .func (.param .b64 out) malloc(.param .b64 size);
.visible .global .align 8 .b64 {QUEUE};
"""
_FORM = """
.visible .func (.param .b64 out) PREFIXGetParameterBufferV2(
    .param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared)
{
    .reg .b64 %at, %kernel;
    .reg .b32 %v<7>;
    .reg .pred %none;
    { .param .b64 size; .param .b64 got; st.param.b64 [size], RECORD; call (got), malloc, (size); ld.param.b64 %at, [got]; }
    setp.eq.u64 %none, %at, 0;
    @%none bra END;
    ld.param.b64 %kernel, [kernel];
    st.b64 [%at + 8], %kernel;
    ld.param.b32 %v0, [grid];
    ld.param.b32 %v1, [grid + 4];
    ld.param.b32 %v2, [grid + 8];
    ld.param.b32 %v3, [block];
    ld.param.b32 %v4, [block + 4];
    ld.param.b32 %v5, [block + 8];
    ld.param.b32 %v6, [shared];
    st.b32 [%at + 24], %v0;
    st.b32 [%at + 28], %v1;
    st.b32 [%at + 32], %v2;
    st.b32 [%at + 36], %v3;
    st.b32 [%at + 40], %v4;
    st.b32 [%at + 44], %v5;
    st.b32 [%at + 48], %v6;
    add.u64 %at, %at, PARAMETERS;
END:
    st.param.b64 [out], %at;
    ret;
}
.visible .func (.param .b32 out) PREFIXLaunchDeviceV2(.param .b64 buffer, .param .b64 stream)
{
    .reg .b64 %at, %stream, %before;
    .reg .b32 %code;
    .reg .pred %none;
    mov.b32 %code, NO_MEMORY;
    ld.param.b64 %at, [buffer];
    setp.eq.u64 %none, %at, 0;
    @%none bra END;
    sub.u64 %at, %at, PARAMETERS;
    ld.param.b64 %stream, [stream];
    st.b64 [%at + 16], %stream;
    atom.global.exch.b64 %before, [QUEUE], %at;
    st.b64 [%at], %before;
    mov.b32 %code, 0;
END:
    st.param.b32 [out], %code;
    ret;
}
"""
# Bits of the parameters, then those of the result where they are not 32: the calls that take them. A call in _STORED writes a number
# where its first parameter says; those in _DONE need nothing to be done, as launches run in the order of the calls; all others fail.
_CALLS = """
32=SetLastError 64,32,64=FuncGetAttribute 64,32=GetLimit,StreamCreate,EventCreate
64=GetCacheConfig,GetSharedMemConfig,GetDeviceCount,GetDevice,StreamDestroy,EventDestroy
=GetLastError 64,32,32=DeviceGetAttribute 64,64,32=StreamWaitEvent 64,64=EventRecord 64,64,64,64,32,64=LaunchDevice
32,32:64=GetParameterBuffer
"""
_OTHERS = """
64,64,32,64=__cuda_syscall_cnpMaxActiveBlocksPerMultiprocessor,__cuda_syscall_cnpv2MaxActiveBlocksPerMultiprocessor
64,64,32,64,32=__cuda_syscall_cnpMaxActiveBlocksPerMultiprocessorWithFlags,__cuda_syscall_cnpv2MaxActiveBlocksPerMultiprocessorWithFlags
"""
# Grids whose blocks wait for each other: the handle is the workspace of a cooperative launch, where the blocks that came are counted.
_GRIDS = f"""
.visible .func (.param .b64 out) {GRID}get_intrinsic_handle(.param .b32 scope)
{{
    .reg .b32 %scope, %low, %high;
    .reg .b64 %at;
    .reg .pred %grid;
    ld.param.b32 %scope, [scope];
    mov.b32 %high, %envreg1;
    mov.b32 %low, %envreg2;
    mov.b64 %at, {{%low, %high}};
    setp.eq.u32 %grid, %scope, 1;
    selp.b64 %at, %at, 0, %grid;
    st.param.b64 [out], %at;
    ret;
}}
.visible .func (.param .b32 out) {GRID}sync(.param .b64 handle, .param .b32 flags)
{{
    .reg .b64 %at;
    .reg .b32 %own, %n, %before, %now, %code;
    .reg .pred %none, %other, %first, %waits;
    ld.param.b64 %at, [handle];
    setp.eq.u64 %none, %at, 0;
    mov.b32 %code, {INVALID};
    @%none bra END;
    barrier.sync 0;
    mov.b32 %n, %tid.x;
    mov.b32 %own, %tid.y;
    or.b32 %n, %n, %own;
    mov.b32 %own, %tid.z;
    or.b32 %n, %n, %own;
    setp.ne.u32 %other, %n, 0;
    @%other bra MET;
    mov.b32 %n, %nctaid.x;
    mov.b32 %own, %nctaid.y;
    mul.lo.u32 %n, %n, %own;
    mov.b32 %own, %nctaid.z;
    mul.lo.u32 %n, %n, %own;
    sub.u32 %n, 0x80000001, %n;  // the blocks turn the highest bit, together
    mov.b32 %own, %ctaid.x;
    mov.b32 %before, %ctaid.y;
    or.b32 %own, %own, %before;
    mov.b32 %before, %ctaid.z;
    or.b32 %own, %own, %before;
    setp.eq.u32 %first, %own, 0;
    selp.b32 %n, %n, 1, %first;
    fence.acq_rel.gpu;
    atom.global.add.u32 %before, [%at + 4], %n;
WAIT:
    ld.acquire.gpu.global.u32 %now, [%at + 4];
    xor.b32 %now, %now, %before;
    setp.ge.s32 %waits, %now, 0;
    @%waits bra WAIT;
MET:
    barrier.sync 0;
    mov.b32 %code, 0;
END:
    st.param.b32 [out], %code;
    ret;
}}
.visible .func (.param .b32 out) {GRID}get_size(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{{
    .reg .b64 %at;
    .reg .b32 %n, %one;
    mov.b32 %n, %ntid.x;
    mov.b32 %one, %ntid.y;
    mul.lo.u32 %n, %n, %one;
    mov.b32 %one, %ntid.z;
    mul.lo.u32 %n, %n, %one;
    mov.b32 %one, %nctaid.x;
    mul.lo.u32 %n, %n, %one;
    mov.b32 %one, %nctaid.y;
    mul.lo.u32 %n, %n, %one;
    mov.b32 %one, %nctaid.z;
    mul.lo.u32 %n, %n, %one;
    ld.param.b64 %at, [threads];
    st.u32 [%at], %n;
    ld.param.b64 %at, [grids];
    st.u32 [%at], 1;
    st.param.b32 [out], 0;
    ret;
}}
.visible .func (.param .b32 out) {GRID}get_rank(.param .b64 rank, .param .b64 grid, .param .b64 handle)
{{
    .reg .b64 %at;
    .reg .b32 %n, %width;
    mov.b32 %n, %ctaid.z;
    mov.b32 %width, %nctaid.y;
    mul.lo.u32 %n, %n, %width;
    mov.b32 %width, %ctaid.y;
    add.u32 %n, %n, %width;
    mov.b32 %width, %nctaid.x;
    mul.lo.u32 %n, %n, %width;
    mov.b32 %width, %ctaid.x;
    add.u32 %n, %n, %width;
    mov.b32 %width, %ntid.z;
    mul.lo.u32 %n, %n, %width;
    mov.b32 %width, %tid.z;
    add.u32 %n, %n, %width;
    mov.b32 %width, %ntid.y;
    mul.lo.u32 %n, %n, %width;
    mov.b32 %width, %tid.y;
    add.u32 %n, %n, %width;
    mov.b32 %width, %ntid.x;
    mul.lo.u32 %n, %n, %width;
    mov.b32 %width, %tid.x;
    add.u32 %n, %n, %width;
    ld.param.b64 %at, [rank];
    st.u32 [%at], %n;
    ld.param.b64 %at, [grid];
    st.u32 [%at], 0;
    st.param.b32 [out], 0;
    ret;
}}
"""
_STORED = {"StreamCreate": ("b64", 16), "EventCreate": ("b64", 16), "GetDevice": ("b32", 0), "GetDeviceCount": ("b32", 1)}
_DONE = ("StreamDestroy", "EventDestroy", "StreamWaitEvent", "EventRecord", "GetLastError")


def _rows(table: str) -> Iterator[tuple[str, str]]:
    for row in table.split():
        bits, _, names = row.partition("=")
        yield from [(name, bits) for name in names.split(",")]


def _simple(name: str, bits: str) -> str:
    taken, _, given = bits.partition(":")
    parameters = ", ".join(f".param .b{b} p{n}" for n, b in enumerate(filter(None, taken.split(","))))
    body, out = "", "0" if given or name.endswith(_DONE) else str(NOT_SUPPORTED)  # no handle, no buffer
    kind, value = next((what for ending, what in _STORED.items() if name.endswith(ending)), ("", 0))
    if kind:
        body, out = f".reg .b64 %at; ld.param.b64 %at, [p0]; st.{kind} [%at], {value};", "0"
    elif name.endswith("SetLastError"):
        body, out = ".reg .b32 %v; ld.param.b32 %v, [p0];", "%v"
    result = given or "32"
    return f".visible .func (.param .b{result} out) {name}({parameters}) {{ {body} st.param.b{result} [out], {out}; ret; }}\n"


def wants_launches(modules: Sequence[Module]) -> bool:
    """Is libcudadevrt among some modules?"""
    return any(name.startswith(PREFIXES) and f.body is None for m in modules for name, f in m.functions.items())


def driver_part() -> str:
    """What the driver brings, as PTX."""
    words = {"RECORD": PARAMETERS + MOST, "PARAMETERS": PARAMETERS, "NO_MEMORY": NO_MEMORY, "QUEUE": QUEUE}
    text = f".version 7.0\n.target sm_70\n.address_size 64\n{_LAUNCHES}"
    for prefix in PREFIXES:
        form = _FORM.replace("PREFIX", prefix)
        for word, value in words.items():
            form = form.replace(word, str(value))
        text += form + "".join(_simple(prefix + name, bits) for name, bits in _rows(_CALLS))
    return text + "".join(_simple(name, bits) for name, bits in _rows(_OTHERS)) + _GRIDS


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """A launch that a kernel has queued."""

    kernel: str  # empty where the address is no function's
    grid: Dim3
    block: Dim3
    dynamic_shared: int
    parameters: bytes  # and what stands behind them
    stream: int


def queued(program: LoadedProgram, arena: Arena, heap: DeviceHeap) -> list[DeviceLaunch]:
    """What a kernel that has ended has launched, in order, but last what is to follow all others."""
    if QUEUE not in program.variables:
        return []
    begin = program.address(program.variables[QUEUE]) - arena.base
    found, at = [], int(arena.bytes[begin : begin + 8].view("<u8")[0])
    arena.bytes[begin : begin + 8] = 0
    while at:
        raw = arena.bytes[at - arena.base :][: PARAMETERS + MOST].tobytes()
        heap.free(at)
        at, address, stream, *sizes = HEAD.unpack_from(raw)
        function = program.function_at(address)
        x, y, z, width, height, depth, shared = sizes
        name = function.name if function is not None else ""
        found.append(DeviceLaunch(name, (x, y, z), (width, height, depth), shared, raw[PARAMETERS:], stream))
    found.reverse()
    return sorted(found, key=lambda one: one.stream == TAIL)
