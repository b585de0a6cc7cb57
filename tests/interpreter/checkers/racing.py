"""Programs of a few instructions under racecheck."""

from __future__ import annotations

from dataclasses import replace

from warplab.interpreter.checkers.findings import Finding
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import LaunchSpec, RunSpec

BUFFERS = (("g", "u32[256]"), ("f", "u32[64]"))
HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 g, .param .u64 f)
{
    .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<8>;
    .shared .align 16 .b8 s[1024];
    .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [g];
    ld.param.u64 %rd2, [f];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, s;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r3, %r4;          // own word in s
    xor.b32 %r6, %r4, 4;
    add.u32 %r6, %r6, %r3;          // that of the other lane of a pair
    xor.b32 %r7, %r4, 128;
    add.u32 %r7, %r7, %r3;          // that of a thread in another warp
    mov.u32 %r9, bar;
    setp.eq.u32 %p1, %r2, 0;
    setp.eq.u32 %p2, %r1, 0;
"""


def races(
    body: str, *, block: int = 64, grid: int = 1, cluster: int = 1, schedule: int | None = None, streams: tuple[str, ...] = ("",)
) -> tuple[Finding, ...]:
    """The findings of a kernel with this body, launched on each of these streams."""
    launch = LaunchSpec("k", (grid, 1, 1), (block, 1, 1), ("g", "f"), cluster=(cluster, 1, 1))
    launches = tuple(replace(launch, stream=s) for s in streams)
    text = HEAD + "\n".join(f"    {line}" for line in body.strip().splitlines()) + "\n    ret;\n}\n"
    runner = Runner(
        [text.encode()], ["k.ptx"], RunSpec(launches, buffers=BUFFERS, sanitize="racecheck", schedule=schedule, timeout=20.0), None
    )
    try:
        outcome = runner.run()
        assert not outcome.failure, outcome.failure
        return outcome.findings
    finally:
        runner.close()
