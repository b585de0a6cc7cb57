"""One Shape for all instructions of a kind."""

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.assembler.shapes import MOST, Spelling, spelling, under
from warplab.isa.notation import FORMS


def test_one_shape_for_the_same_words_and_categories() -> None:
    add = spelling("add", ("s32",))
    shape = add["b32", "b32", "#int"]
    assert spelling("add", ("s32",))["b32", "b32", "#int"] is shape
    assert shape.form is not None and shape.form.match(("s32",)) == shape.settled
    assert shape != add["b32", "b32", "b32"]


def test_words_that_no_row_has() -> None:
    shape = spelling("add", ("u32", "sat"))["b32", "b32", "b32"]
    assert (shape.form, shape.settled, shape.modifiers) == (None, None, ("u32", "sat"))


def test_another_row_with_the_same_words() -> None:
    shape, (first, second) = next(
        (spelling(opcode, words)["b32", "b32"], rows)
        for opcode in FORMS
        for words in [("b32",), ("b64",), ("u32",), ("f32",)]
        if len(rows := [f for f in FORMS[opcode] if f.match(words) is not None][:2]) == 2
    )
    assert shape.form is first
    other = under(shape, second)
    assert other is under(shape, second) and other.form is second and other.settled == second.match(shape.modifiers)
    assert (other.opcode, other.modifiers, other.categories) == (shape.opcode, shape.modifiers, shape.categories)


def test_a_text_made_to_fill_the_memory_does_not() -> None:
    mov = Spelling("mov", ("b32",))
    for i in range(2 * MOST + 1):
        mov["b32", f"%odd{i}."]
    assert len(mov) <= MOST
