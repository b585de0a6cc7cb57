"""The samples, broken as a beginner would: each rule breaks every sample that it fits, in one place, and the right tool names it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

SAMPLES = Path(__file__).parents[3] / "samples"
NAMES = (
    "bitonic_sort cluster cp_async dynamic_shared flash_attention groups malloc matmul/9_fused monte_carlo printf "
    "reduction/1_interleaved reduction/5_shuffle scan softmax stencil transpose/2_tiled vecadd histogram/1_global histogram/2_private"
).split()

# what is broken: (pattern, what stands there instead, the tool, its kinds)
RULES = {
    "no barrier": (r"^ +bar\.sync +0;", "", "racecheck", "read-write write-write"),
    "a barrier for some lanes": (
        r"^ +bar\.sync +0;", "{ .reg .b32 %l; .reg .pred %o; mov.u32 %l, %laneid; setp.lt.u32 %o, %l, 16; @%o bar.sync 0; }", "synccheck racecheck",
        "barrier-divergence read-write write-write",
    ),
    "a warp's barrier for a block's": (r"^ +bar\.sync +0;", "bar.warp.sync 0xffffffff;", "racecheck", "read-write write-write"),
    "no wait for the cluster": (r"^ +barrier\.cluster\.wait[^;]*;", "", "racecheck synccheck", "read-write write-write cluster-barrier"),
    "no wait for the copy": (r"^ +cp\.async\.wait_\w+[^;]*;", "", "racecheck", "read-write write-write"),
    "one group too many under way": (r"(cp\.async\.wait_group) 1;", r"\1 2;", "racecheck", "read-write write-write"),
    "no group is closed": (r"^ +cp\.async\.commit_group;", "", "racecheck", "read-write write-write"),
    "half a mask": (r", (0xffffffff|-1);", ", 0xffff;", "synccheck", "invalid-mask"),
    "too narrow a scope": (r"\b(red|atom)\.global\.", r"\1.relaxed.cta.global.", "racecheck", "write-write"),
    "a count in three steps": (
        r"^ +red\.(global|shared)\.add\.u32 +\[(%\w+)\], 1;",
        r"{ .reg .b32 %n; ld.\1.u32 %n, [\2]; add.u32 %n, %n, 1; st.\1.u32 [\2], %n; }", "racecheck", "read-write write-write",
    ),
    "far behind the end": (r"((?:ld|st)\.global[.\w]*\s.*\[%\w+)(\])", r"\1+1048576\2", "memcheck", "out-of-bounds"),
    "two bytes too far": (r"((?:ld|st)\.(?:global|shared)\.[fu]32\s.*\[%\w+)(\])", r"\1+2\2", "memcheck", "misaligned"),
    "no guard": (r"^ +@!?%\w+ ((?:ld|st)\.global)", r"\1", "memcheck", "out-of-bounds"),
    "no start value": (r"^ +mov\.\w+ +%(?:sum|s0|c0|f1|acc|total)\b[^;]*;", "", "initcheck", "uninitialized"),
    "nothing is stored in shared memory": (r"^ +(?:@%\w+ )?st\.shared[^;]*;", "", "initcheck", "uninitialized"),
    "nothing is freed": (r"call free, \(given\);|call \(\), free[^;]*;|call\.uni free[^;]*;|call free[^;]*;", "", "memcheck", "leak"),
}  # fmt: skip

# where the program is right without it
HARMLESS = {
    ("no barrier", "cp_async"): "each thread reads what it copied itself",
    ("a warp's barrier for a block's", "cp_async"): "each thread reads what it copied itself",
    ("a warp's barrier for a block's", "reduction/1_interleaved"): "the first step adds what a neighbour in the same warp wrote",
    ("nothing is stored in shared memory", "transpose/2_tiled"): "unset values that are only copied are not faults",
    ("a barrier for some lanes", "reduction/5_shuffle"): "the lanes that go past the barrier do nothing but end",
}


def broken() -> list[tuple[str, str, str]]:
    """Rule, sample and text of each."""
    out = []
    for rule, (pattern, instead, _, _) in RULES.items():
        for name in NAMES:
            text = (SAMPLES / f"{name}.ptx").read_text()
            found = next(
                (m for m in re.finditer(pattern, text, re.M) if "//" not in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]), None
            )
            if found and (rule, name) not in HARMLESS:
                out.append((rule, name, text[: found.start()] + found.expand(instead) + text[found.end() :]))
    return out


@pytest.mark.parametrize(("rule", "name", "text"), [pytest.param(*b, id=f"{b[1]}: {b[0]}") for b in broken()])
def test_named(rule: str, name: str, text: str, tmp_path: Path) -> None:
    _, _, tools, kinds = RULES[rule]
    path = tmp_path / "broken.ptx"
    path.write_text(text)
    if (launches := SAMPLES / f"{name}.toml").exists():
        path.with_suffix(".toml").write_text(launches.read_text())
    result = CliRunner().invoke(main, ["sanitize", "--json", "--timeout", "20", str(path)])
    assert result.stdout, result.output
    errors = [f for f in json.loads(result.stdout) if f["severity"] == "error"]
    assert result.exit_code == 1
    assert any(f["tool"] in tools.split() and f["kind"] in kinds.split() for f in errors), errors
