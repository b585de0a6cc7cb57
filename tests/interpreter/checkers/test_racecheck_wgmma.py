"""racecheck: what wgmma reads of shared memory, through the async proxy and until its group is waited for."""

from __future__ import annotations

import pytest

from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import LaunchSpec, RunSpec

PROGRAM = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
    .shared .align 128 .b8 s[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r3, %r2;
    mov.u32 %r4, 0;
    mov.f32 %f0, 0f00000000;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    st.shared.u32 [%r3], %r4;
    st.shared.u32 [%r3+512], %r4;
    st.shared.u32 [%r3+1024], %r4;
    st.shared.u32 [%r3+1536], %r4;
    st.shared.u32 [%r3+2048], %r4;
    PROXY
    BARRIER
    shr.u32 %r5, %r2, 4;
    cvt.u64.u32 %rd1, %r5;
    or.b64 %rd1, %rd1, 0x0000000800080000;
    add.u64 %rd2, %rd1, 128;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    WAIT
    AFTER
    st.shared.u32 [%r3], %r4;
    wgmma.wait_group.sync.aligned 0;
    ret;
}
"""
STEPS = {
    "PROXY": "fence.proxy.async.shared::cta;", "BARRIER": "bar.sync 0;", "WAIT": "wgmma.wait_group.sync.aligned 0;", "AFTER": "bar.sync 1;",
}  # fmt: skip


@pytest.mark.parametrize(("missing", "words"), [
    ("", ""), ("PROXY", "fence.proxy.async"), ("BARRIER", "wgmma"), ("WAIT", "wgmma.wait_group"),
])  # fmt: skip
def test_wgmma(missing: str, words: str) -> None:
    text = PROGRAM
    for step, instruction in STEPS.items():
        text = text.replace(step, "" if step == missing else instruction, 1)
    runner = Runner(
        [text.encode()], ["k.ptx"], RunSpec((LaunchSpec("k", (1, 1, 1), (128, 1, 1), ("u32[4]",)),), sanitize="racecheck"), None
    )
    try:
        outcome = runner.run()
        assert not outcome.failure, outcome.failure
        assert bool(outcome.findings) == bool(missing)
        assert not missing or any(words in f.message + f.help for f in outcome.findings)
    finally:
        runner.close()
