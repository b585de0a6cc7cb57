"""The page docs/object-format.md, written from the tables that encode and decode."""

from __future__ import annotations

from warplab.assembler.ir import Instruction
from warplab.assembler.objects import elf
from warplab.assembler.objects.emit import ITEMS, PREFIX, STORAGE, emit
from warplab.assembler.objects.encoding import FIRST_SHAPE, OPERANDS, RELOCATIONS, STATEMENTS, Reader, Signature, Strings
from warplab.assembler.objects.objectfile import VERSION
from warplab.assembler.objects.records import FUNCTION, SIZES, VARIABLE
from warplab.assembler.parse import parse
from warplab.assembler.walk import statements

from .markdown import code, page, table

_SECTIONS = {
    ".note.warplab": f'note "warplab" of type 1: the format version ({VERSION}), then the CRC-32 of the file with these four bytes zero',
    ".text.NAME": "the statements of a function, up to the end of its body",
    ".rela*": "the relocations of a section",
    ".warplab.module": "PTX version (two numbers), number of targets, their strings, address size, number of items, each item",
    ".warplab.functions": "number of functions, declared or defined, in the order of the text; for each its record, and if it is "
    f"defined the bytes of its {', '.join(SIZES)}",
    ".warplab.tables": "for each defined function in that order: number of target lists, for each its name string, 1 for calls, a "
    "number of targets, each (label or symbol number); number of prototypes, for each its name string, results, parameters, "
    "1 if it does not return",
    ".warplab.shapes": "number of shapes; for each: opcode string, row string, number of slots, for each the string of its word (0 for "
    "none), number of places (0: the words stand in the row's order), each, string of the operand pattern",
    ".warplab.line": "for each function with .loc: symbol number, number of lines, for each: bytes of code since the one before, labels "
    "that stand before it at that place, file, signed difference of lines, column, string of the function name (then its signed offset), "
    "1 if inlined (then file, line and column)",
    ".warplab.strings": "all strings, ended by NUL; the first is empty",
    ".warplab.textN.NAME": "the lines of section NAME of the PTX, such as its DWARF",
    ".symtab": "functions and variables of static storage by their names and linkage (no linkage: local; .weak: weak; .common: COMMON), "
    "and the labels of each function as local symbols of its code",
}

_HEAD = f"""# The object file

`warplab assemble` writes a relocatable little-endian ELF64 file with e_machine {elf.MACHINE:#x}; `readelf -h -S -s -r -n` can read it. The file
holds the whole PTX module except its comments and the spelling of numbers. `warplab disassemble` prints equivalent PTX, and assembling that
PTX gives the same bytes.

A *number* is encoded as unsigned LEB128. A *signed* number is zigzag-encoded first: 2n for n >= 0, -2n-1 otherwise. A *string* is an index
into the strings of `.warplab.strings`. Indices count from 0; those of symbols count from 1, as in ELF.
"""


def pages() -> dict[str, str]:
    """The page."""
    places = {place: f".{space}" for space, both in reversed(STORAGE.items()) for place in both}
    sections = {**_SECTIONS, **{place: f"variables of {space}" for place, space in sorted(places.items())}}
    statement_rows = [(c, n, t) for c, (n, t) in STATEMENTS.items()]
    statement_rows.append((f"{FIRST_SHAPE} + n", "instruction of shape n", "the fields of the shape's pattern"))
    text = page(
        _HEAD,
        "## Sections", table(("section", "holds"), ((code(name), text) for name, text in sections.items())),
        "## Items of the module", table(("code", "item", "fields"), ((c, n, t) for c, (n, t) in ITEMS.items())),
        f"Record of a variable: {VARIABLE}.", f"Record of a function: {FUNCTION}.",
        "## Statements", "A statement begins with its code.", table(("code", "statement", "fields"), statement_rows),
        "## Operand patterns", "Each letter stands for an operand; the fields of the operands follow in the code, in the order of the pattern.",
        table(("pattern", "operand and fields"), ((code(k), t) for k, t in OPERANDS.items())),
        "## Relocations", table(("type", "value"), RELOCATIONS.items()),
        "## Rows", _ROWS, _example(), source="the tables of the object file in `assembler/`",
    )  # fmt: skip
    return {"object-format.md": text}


_ROWS = """A shape names a row of the instruction table by its text, as `warplab isa` prints it, and lists the word of each slot of the row in
order; an unused slot has the empty string. The encoding therefore does not depend on the order or the number of rows in the table: a file remains
readable as long as the rows that it uses exist. An example, with the bytes in hexadecimal:"""

# Each instruction has a label, because labels tell places in the code.
_SOURCE = """.version 8.3
.target sm_90
.address_size 64
.global .u32 total;
.visible .entry example(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
L0: ld.param.u64 %rd1, [out];
L1: mov.u32 %r1, %tid.x;
L2: setp.gt.u32 %p1, %r1, 7;
L3: @%p1 bra L6;
L4: st.global.u32 [%rd1+-4], 300;
L5: atom.global.add.u32 %r2, [total], %r1;
L6: ret;
}
"""


def _example() -> str:
    """Each instruction of a small kernel with its shape and its bytes."""
    module = parse(_SOURCE)
    contents = emit(module)
    section, shapes_section = contents.section(".text.example"), contents.section(PREFIX + "shapes")
    strings = contents.section(PREFIX + "strings")
    assert section is not None and shapes_section is not None and strings is not None
    reader = Reader(shapes_section.data, Strings.decode(strings.data), "shapes")
    shapes = [Signature.decode(reader) for _ in range(reader.count())]
    instructions = [s for s in statements(module.functions["example"].body) if isinstance(s, Instruction)]
    starts = [x.value for x in contents.symbols if x.section == section.name and x.kind == "notype"]
    ends = [*starts[1:], len(section.data) - 1]
    rows = []
    for i, shape, start, end in zip(instructions, shapes, starts, ends, strict=True):
        text = module.text[i.span.start : i.span.end]
        words = " ".join(f"{w or '-'}" for w in shape.slots)
        rows.append(tuple(f"`{x}`" if x else "" for x in (text, shape.row, words, shape.pattern, section.data[start:end].hex(" "))))
    return table(("instruction", "row", "words by slot", "pattern", "bytes"), rows)
