"""The table of instructions that stand for several machine instructions: what is in it, who reads it, and that ptxas still says so."""

from __future__ import annotations

import shutil

import pytest

from tests.interpreter.harness import Machine, kernel
from tools.expansions import Assembly, Line, count
from tools.machine_code import TOOLS
from warplab.interpreter.ptxas.machine.expansions import FIRST, ExpansionTable, expansion, named, opcodes_of, stand_in, table
from warplab.interpreter.ptxas.machine.kinds import NOTHING, kind_of
from warplab.interpreter.ptxas.machine_code import machine_code
from warplab.isa.notation import resolve
from warplab.isa.profiles import PROFILES


def test_each_row_is_an_instruction_that_is_several_somewhere() -> None:
    for name, row in table().rows.items():
        opcode, *words = name.split()[0].split(".")
        assert resolve(opcode, tuple(words)) is not None, name
        assert max(len(opcodes_of(line)) for line in row.values()) > 1, name
        assert set(row) <= set(table().sources), name


def test_all_devices_since_the_first_one_that_was_counted_are_there() -> None:
    assert {p.capability for p in PROFILES.values() if p.capability >= FIRST} <= set(table().sources)


@pytest.mark.parametrize("capability", [(1, 0), (2, 0), (3, 5), (5, 0), (7, 0), (9, 0), (10, 0)])
def test_each_device_has_a_division(capability: tuple[int, int]) -> None:
    for name in ("div.rn.f32", "div.u32", "div.s64", "sqrt.rn.f64"):
        found = expansion(name, capability)
        assert found is not None and len(found) > 5


def test_old_devices_multiply_32_bits_at_once() -> None:
    assert expansion("mul.lo.u32", (3, 5)) == ("IMAD",)
    assert expansion("mul.lo.u32", (5, 2)) == ("XMAD",) * 3
    assert stand_in("min.s32", (3, 5)) == (5, 0)
    assert stand_in("mul24.lo.u32", (1, 3)) is None  # an instruction of its own there


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [("div.approx.ftz.f32", "div.rn.f32"), ("sqrt.approx.f32", "sqrt.rn.f32"), ("rem.u32", "rem.u64"), ("div.u32 again", "div.u32")],
)
def test_what_is_less_exact_or_narrower_costs_less(cheap: str, dear: str) -> None:
    for capability in table().sources:
        assert len(expansion(cheap, capability) or ()) < len(expansion(dear, capability) or ())


def test_opcodes_have_kinds() -> None:
    """Those that only take an issue slot are control flow, and moves of flags."""
    for capability in table().sources:
        for name in table().rows:
            unknown = {o.split(".")[0] for o in expansion(name, capability) or () if kind_of(o) is NOTHING}
            assert unknown <= {
                "BSSY",
                "BSYNC",
                "BREAK",
                "BMOV",
                "SSY",
                "SYNC",
                "PBK",
                "BRK",
                "DEPBAR",
                "WARPSYNC",
                "RRO",
                "BFE",
                "BFI",
                "CS2R",
            }, name


def test_a_table_that_is_written_is_read_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    file = tmp_path / "expansions.json"  # type: ignore[operator]
    monkeypatch.setattr("warplab.interpreter.ptxas.machine.expansions.FILE", file)
    made = ExpansionTable(
        {(5, 0): "a", (7, 0): "b"}, {"x.u32": {(5, 0): "A*2", (7, 0): "A B"}, "x.u32 constant": {(5, 0): "A*2", (7, 0): "A B"}}
    )
    made.write()
    assert ExpansionTable.read() == made


def test_the_path_with_the_fewest_calls_is_counted_and_its_routine_is() -> None:
    code = [
        Line("", "FCHK", "P0, R1", 2), Line("@!P0", "BRA", "`(.L)", 2), Line("", "CALL.REL.NOINC", "`(slow)", 2),
        Line("", "BSYNC", "B0", 3), Line("", "STG", "R1", 3), Line("", "EXIT", "", 3),
        Line("", "FMUL", "R1", 3), Line("", "RET.REL.NODEC", "R2", 3),
    ]  # fmt: skip
    labels = {".L": 3, "slow": 6}
    assert Assembly(code, labels, 2).way() == ("FCHK", "BRA", "BSYNC")
    code[1] = Line("", "NOP", "", 2)
    assert Assembly(code, labels, 2).way() == ("FCHK", "CALL", "FMUL", "RET", "BSYNC")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("sqrt.rn.f32 %f1, %f0;", "sqrt.rn.f32"),
        ("sqrt.approx.f32 %f1, %f0;", "sqrt.approx.f32"),
        ("div.full.f32 %f1, %f0, %f0;", "div.full.f32"),
        ("sin.approx.f32 %f1, %f0;", "sin.approx.f32"),
    ],
)
def test_machine_code_is_that_of_the_table(line: str, name: str) -> None:
    head = ".reg .f32 %f<4>; .reg .b64 %d1; ld.param.u64 %d1, [out]; ld.global.f32 %f0, [%d1];"
    k = Machine(kernel("p out", f"{head} {line} st.global.f32 [%d1], %f1; ret;")).kernels()["test"]
    for capability in ((5, 2), (7, 5), (9, 0)):
        made = [
            o.opcode
            for block in machine_code(k, capability).blocks
            for o in block
            if o.of is not None and o.of.opcode == name.split(".")[0]
        ]
        assert named(made) == named(expansion(name, capability) or ())


@pytest.mark.skipif(any(shutil.which(t) is None for t in TOOLS), reason="needs ptxas and nvdisasm")
def test_ptxas_makes_the_same_today() -> None:
    counted = count("ptxas", "nvdisasm", (9, 0))
    assert {name: len(counted[name]) for name in table().rows if name in counted} == {
        name: len(expansion(name, (9, 0)) or ()) for name in table().rows if name in counted
    }
