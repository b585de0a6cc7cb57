"""What must hold of every row of every family, and that illegal spellings of the integer families stay illegal."""

import itertools
from collections.abc import Iterator

import pytest

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.notation import FORMS, Form, resolve

ROWS = [form for forms in FORMS.values() for form in forms]
SAMPLE = 300  # spellings of a row that are tried: the first, and then evenly spread ones


def spellings(form: Form) -> Iterator[tuple[str, ...]]:
    total = 1
    for slot in form.slots:
        total *= len(slot.words) + slot.optional
    for spelling in itertools.islice(form.spellings(), 0, None, max(1, total // SAMPLE)):
        yield tuple(spelling.split(".")[1:])


def test_no_row_takes_the_spelling_of_another() -> None:
    wrong = []
    for form in ROWS:
        for words in spellings(form):
            found = resolve(form.opcode, words)
            # Rows whose optional words exclude each other share the spelling without them, and then their meaning, or have none.
            if found is None or (found[0] is not form and found[0].meaning is not form.meaning):
                wrong.append((form.row, ".".join(words), found and found[0].row))
                break
    assert not wrong


def test_every_operand_of_an_executed_row_has_a_type() -> None:
    for form in ROWS:
        words = next(spellings(form))
        found = resolve(form.opcode, words)
        assert found is not None
        if form.meaning is None or form.section.startswith(("9.7.12", "9.7.13", "9.7.14", "9.7.15", "9.7.16", "9.7.17")):
            continue
        for operand in form.operands:
            assert operand.constant or operand.address or form.type_of(operand, found[1]), f"{form.row}: {operand.text}"


def test_every_row_says_what_it_does_and_where_the_manual_says_so() -> None:
    assert [form.row for form in ROWS if not form.doc.strip() or not form.section.startswith("9.7.")] == []


ILLEGAL = """
    add.b32 add.sat.u32 add.sat.s64 add.cc.u16 add.cc.sat.s32 add.u8 add sub.u16x2 sub.s16x2 mul.u32 mul.lo.b32 mul.wide.u64 mul.lo.sat.s32
    mad.lo.sat.s32 mad.hi.sat.u32 mad.u32 mad.wide.s64 mul24.u32 mul24.lo.u16 mad24.lo.sat.s32 sad.b32 div.b32 rem.sat.s32 div.s16x2
    abs.u32 neg.u32 neg.s16x2 min.b32 min.relu.u32 min.relu.s16 min.relu.s64 min.relu.u16x2 addc.cc.u16 subc.sat.u32 madc.wide.u32
    madc.lo.sat.s32 popc.u32 popc.b16 clz.s32 bfind.b32 bfind.u16 fns.u32 brev.u32 bfe.b32 bfe.u16 bfi.u32 szext.u32 szext.clamp.b32
    bmsk.b32 bmsk.clamp.u32 dp4a.u32 dp4a.lo.u32.u32 dp2a.u32.u32 dp2a.lo.b32.u32
    and.u32 not.s32 cnot.pred lop3.xor.b32 lop3.b64 shl.u32 shl.s32 shf.l.b32 shf.wrap.b32 shf.l.wrap.b64 shr.f32 prmt.b64 prmt.b32.rc4
    setp.lo.s32 setp.hs.b32 setp.lt.b32 setp.equ.u32 setp.num.s32 setp.eq.ftz.f64 setp.eq.ftz.s32 setp.lo.f32 setp.eq.ftz.bf16 setp.eq.u8
    setp.eq.and.or.s32 setp.eq.pred set.eq.u64.u32 set.eq.u16.u32 set.eq.s16.s32 set.eq.f64.f32 set.eq.f32.f16 set.eq.ftz.bf16.f32
    set.eq.ftz.u32.f64 set.eq.f16x2.f16 set.eq.u16.f16x2 set.eq.u32.u8 selp.pred selp.f16 selp.b8 slct.ftz.u32.s32 slct.u32.u32 slct.f16.f32
    vadd.u32.u32 vadd.b32.u32.u32 vadd.u32.u32.u32.mad vshl.u32.u32.s32.clamp vshl.u32.u32.u32 vmad.u32.u32.u32.shr8 vmad.u32.u32.u32.add
    vset.u32.u32.u32.lt vset.u32.u32.lo vset.u32.u32.lt.sat vadd2.u32.u32.u32.sat.add vadd2.u32.u32.u32.min vavrg.u32.u32.u32
    vmad2.u32.u32.u32 vset4.u32.u32.lt.max vadd4.u32.u32
"""


@pytest.mark.parametrize("spelling", ILLEGAL.split())
def test_what_ptxas_refuses(spelling: str) -> None:
    opcode, *words = spelling.split(".")
    assert resolve(opcode, tuple(words)) is None


ORDERED = [
    "setp.u32.eq",
    "setp.and.eq.s32",
    "set.eq.u32.and.f32",
    "add.s32.sat",
    "min.s32.relu",
    "lop3.b32.and",
    "vadd.u32.sat.s32.u32.add",
]


@pytest.mark.parametrize("spelling", ORDERED)
def test_words_in_other_orders(spelling: str) -> None:
    opcode, *words = spelling.split(".")
    assert resolve(opcode, tuple(words)) is not None


def needs(spelling: str) -> tuple[float, int]:
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None
    all_needs = [found[0].need] + [found[0].word_needs[w] for w in words if w in found[0].word_needs]
    return max(n.ptx for n in all_needs), max(n.sm for n in all_needs)


@pytest.mark.parametrize(
    ("spelling", "ptx", "sm"),
    [
        ("add.u32", 1.0, 10), ("add.u16x2", 8.0, 90), ("min.relu.s32", 8.0, 90), ("min.s32", 1.0, 10), ("add.cc.u32", 1.2, 10),
        ("subc.cc.s64", 4.3, 20), ("madc.hi.u32", 3.0, 20), ("popc.b32", 2.0, 20), ("fns.b32", 6.0, 30), ("dp4a.u32.s32", 5.0, 61),
        ("bmsk.clamp.b32", 7.6, 70), ("lop3.b32", 4.3, 50), ("lop3.or.b32", 8.2, 70), ("shf.l.wrap.b32", 3.1, 32),
        ("setp.eq.ftz.f32", 1.4, 10), ("setp.eq.f64", 1.0, 10), ("setp.eq.f16", 4.2, 53), ("setp.eq.bf16x2", 7.8, 90),
        ("set.eq.u32.f16", 6.5, 53), ("set.eq.f16.u32", 4.2, 53), ("set.eq.f16x2.f16x2", 4.2, 53), ("set.eq.bf16.f64", 7.8, 90),
        ("slct.ftz.f64.f32", 1.4, 10), ("vadd.u32.u32.u32", 2.0, 20), ("vset4.u32.u32.lt", 3.0, 30),
    ],
)  # fmt: skip
def test_what_ptxas_asks_for(spelling: str, ptx: float, sm: int) -> None:
    assert needs(spelling) == (ptx, sm)
