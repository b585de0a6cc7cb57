"""memcheck of launches that fetch through a texture what they have written through a surface."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 out)
{
    .reg .pred %p;
    .reg .b64 %t, %s, %o;
    .reg .b32 %x, %y, %r<4>;
    ld.param.u64 %t, [t];
    ld.param.u64 %s, [s];
    ld.param.u64 %o, [out];
    mov.u32 %x, %tid.x;
    mad.wide.u32 %o, %x, 4, %o;
    mov.b32 %y, 1;
    setp.lt.u32 %p, %x, 6;
    BODY
    st.global.u32 [%o], %r0;
    ret;
}
"""
WRITE, FETCH = "@%p sust.p.2d.b32.zero [%s, {%x, %y}], %x;", "tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%x, %y}];"
READ = "shl.b32 %r1, %x, 2; suld.b.2d.b32.zero %r0, [%s, {%r1, %y}];"


@pytest.mark.parametrize(
    ("body", "shares", "lanes"),
    [
        (f"{WRITE}\n{FETCH}", True, 6),  # eight lanes fetch, of which six have written
        (f"{WRITE}\nadd.u32 %x, %x, 4;\n{FETCH}", True, 2),
        (f"@%p sured.p.add.2d.b32.zero [%s, {{%x, %y}}], %x;\n{FETCH}", True, 6),
        (f"{FETCH}\n{WRITE}", True, 0),
        (f"{WRITE}\nmov.b32 %y, 2;\n{FETCH}", True, 0),  # another row
        (f"{WRITE}\n{READ}", True, 0),
        (f"{WRITE}\n{FETCH}", False, 0),  # another array
    ],
)
def test_findings(tmp_path: Path, body: str, shares: bool, lanes: int) -> None:
    (tmp_path / "k.ptx").write_text(KERNEL.replace("BODY", body))
    options = ["--block", "8", "--surf", "s=u32[4,8]", "--tex", f"t={'s' if shares else 'u32[4,8]'}", "--arg", "out:out=u32[8]"]
    done = CliRunner().invoke(main, ["sanitize", "--json", "--tool", "memcheck", *options, str(tmp_path / "k.ptx")])
    found = json.loads(done.output)
    assert [(f["kind"], f["count"]) for f in found] == ([("written-texel", lanes)] if lanes else [])
    if lanes:
        assert found[0]["other_line"] == 16 and found[0]["line"] > 16
