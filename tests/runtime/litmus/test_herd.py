"""Litmus tests of herd's format: what is read, what is refused, what is printed, and that both formats have the same outcomes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.litmus.herd import text_of
from tests.runtime.litmus.test_litmus_programs import Does, Threads, allowed, programs, reads
from tests.runtime.litmus.test_litmus_programs import judged as judged_ptx
from warplab.runtime.cli import main
from warplab.runtime.litmus.herd.judge import judge_herd
from warplab.runtime.litmus.herd.parse import parse

MP = """PTX MP
"a description; with { none } of the signs read"
{
x = 0; y = 0; (* both *)
P1:r0=0; P1:r1=0;
}
 P0@cta 0,gpu 0        | P1@cta 1, gpu 0        ;  // two blocks
 st.weak x, 1          | ld.acquire.gpu r0, [y] ;
 st.release.gpu y, 1   | ld.weak r1, x          ;
locations [x; P1:r0;]
~exists
(1:r0 == 1 /\\ P1: r1 != 1)
""".replace("with { none } of", "with none of")


def run(path: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["litmus", str(path), *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_what_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "mp.litmus"
    path.write_text(MP)
    code, text = run(tmp_path)
    assert code == 0
    assert text.splitlines() == [
        f"{path.as_posix()}  MP: 2 threads, 2 blocks, 1 device",
        "  P1:r0=0 P1:r1=0 x=1  allowed",
        "  P1:r0=0 P1:r1=1 x=1  allowed",
        "  P1:r0=1 P1:r1=1 x=1  allowed",
        "  ok     ~exists (P1:r0 == 1 /\\ P1:r1 != 1)",
    ]
    path.write_text(MP.replace("~exists", "exists"))
    code, text = run(path)
    assert code == 1 and "FAILED exists (P1:r0 == 1 /\\ P1:r1 != 1): no execution that the model allows is so" in text
    path.write_text(MP.replace("acquire.gpu", "relaxed.gpu"))
    code, text = run(path, "--json")
    (found,) = json.loads(text)
    assert code == 1 and [o for o in found["outcomes"] if o["decides"]] == [{"values": {"P1:r0": 1, "P1:r1": 0, "x": 1}, "decides": True}]


def test_such_files_are_tests(tmp_path: Path) -> None:
    (tmp_path / "good.litmus").write_text(MP)
    (tmp_path / "bad.litmus").write_text(MP.replace("release", "relaxed"))
    (tmp_path / "broken.litmus").write_text("PTX")
    result = CliRunner().invoke(main, ["test", str(tmp_path)])
    assert result.exit_code == 1 and "1 passed, 2 failed" in result.output
    assert "the model allows P1:r0=1 P1:r1=0 x=1" in result.output and "expected {, and found the end of the text" in result.output


@pytest.mark.parametrize(
    ("old", "new", "message", "place"),
    [
        ("PTX MP", "AArch64 MP", "only tests of PTX are read", "1:1"),
        ("st.weak x", "stt.weak x", "no instruction is called stt", "8:2"),
        ("st.weak x", "st.acquire.gpu x", "expected one of .weak, .relaxed, .release behind the opcode", "8:2"),
        ("st.release.gpu y", "st.release y", "expected a scope behind .release", "9:2"),
        ("st.weak x", "st.weak.gpu x", "a weak access has no scope", "8:2"),
        ("st.weak x, 1 ", "st.weak x 1 ", "expected ,, and found 1", "8:12"),
        ("st.weak x, 1 ", "st.weak x, y ", "expected a register, and found the location y", "8:13"),
        ("P1@cta 1", "P2@cta 1", "expected the thread P1", "7:26"),
        ("[y] ;", "[y]", "expected ; at the end of the row", "9:2"),
        ("1:r0 ==", "2:r0 ==", "there is no thread P2", "12:2"),
        ("1:r0 ==", "1:r7 ==", "no register of P1 is called r7", "12:4"),
        ("1:r0 ==", "z ==", "no location is called z", "12:2"),
        ("1:r0 ==", "1:r0", "expected a comparison, such as ==, and found 1", "12:7"),
        ("~exists", "never", "expected exists, ~exists or forall, and found never", "11:1"),
        ("x = 0;", "x @ mirror aliases y;", "no proxy is called mirror", "4:5"),
        ("x = 0;", "x = 99999999999999999999999;", "does not fit into 64 bits", "4:5"),
        ("(1:r0", "(" * 200 + "1:r0", "parentheses and negations within each other at most", "12:51"),
    ],
)
def test_what_is_wrong_is_shown_at_its_place(tmp_path: Path, old: str, new: str, message: str, place: str) -> None:
    path = tmp_path / "t.litmus"
    path.write_text(MP.replace(old, new, 1))
    code, text = run(path)
    assert code == 2 and message in text and f"t.litmus:{place}" in text, text


@pytest.mark.parametrize("end", range(0, len(MP), 7))
def test_no_beginning_of_a_test_is_a_fault_of_warplab(tmp_path: Path, end: int) -> None:
    path = tmp_path / "t.litmus"
    path.write_text(MP[:end])
    code, text = run(path)
    assert code in (0, 2), text


def in_herd(threads: Threads, places: str) -> set[tuple[int, ...]]:
    """The outcomes of a program of the other format: of x and y, and of what each thread has read."""

    def spelled(d: Does, n: int) -> str:
        return {
            "st": f"st{d.words or '.weak'} {d.at}, {d.value}", "ld": f"ld{d.words or '.weak'} r{n}, {d.at}", "fence": f"fence{d.words}",
            "add": f"atom{d.words}.add r{n}, {d.at}, {d.value}", "exch": f"atom{d.words}.exch r{n}, {d.at}, {d.value}",
        }[d.what].replace(".volatile", ".relaxed.sys")  # fmt: skip

    columns = [[spelled(d, n) for n, d in enumerate(does)] for does in threads]
    registers = [f"P{n}:r{k}" for n, does in enumerate(threads) for k, d in enumerate(does) if reads(d)]
    text = text_of(columns, f"locations [{' '.join(['x', 'y', *registers])}] exists (0 == 0)", places)
    found = judge_herd(parse(text, "made.litmus"))
    assert found.names == ("x", "y", *registers)
    return set(found.outcomes)


@settings(max_examples=25, deadline=None)
@given(programs, st.booleans())
def test_both_formats_have_the_same_outcomes(threads: Threads, together: bool) -> None:
    threads = [[d for d in does if d.what != "bar"] for does in threads]
    count = len(threads)
    launch, places = (f"--grid 1 --block {count}", "00 00 00") if together else (f"--grid {count} --block 1", "00 10 20")
    assert in_herd(threads, " ".join(places.split()[:count])) == allowed(judged_ptx(threads, launch, 0))
