"""How many operations of each class a multiprocessor does in a clock: table 5-1 of the CUDA guide, and what its later editions add.

A warp's instruction is 32 operations, and a multiply-add is one.  `NONE`: the device has no such instruction; `SEVERAL`: it stands for several
instructions of other classes.  `~` marks a figure that the tables do not print for that device; `DERIVED` says where it is from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NONE: Literal["none"] = "none"
SEVERAL: Literal["several"] = "several"


@dataclass(frozen=True, slots=True)
class Rate:
    """One cell of the table."""

    operations: int  # a clock and multiprocessor; 0 where there is no such instruction
    text: str  # as the table shows it
    derived: bool  # not printed for this device


# Class of instructions -> its title.
CLASSES: dict[str, str] = {
    "f16": "f16 add, multiply, multiply-add",
    "f32": "f32 add, multiply, multiply-add",
    "f64": "f64 add, multiply, multiply-add",
    "special": "f32 rcp, rsqrt, lg2, ex2, sin, cos",
    "add": "integer add, subtract",
    "multiply": "integer multiply, multiply-add",
    "multiply24": "24-bit integer multiply",
    "shift": "shift",
    "compare": "compare, min, max",
    "reverse": "bit reverse",
    "field": "bit field extract, insert",
    "logic": "and, or, xor",
    "leading": "leading zeros, most significant bit",
    "population": "population count",
    "shuffle": "warp shuffle",
    "vote": "warp vote",
    "reduce": "warp reduce",
    "difference": "sum of absolute difference",
    "convert8": "convert 8 and 16-bit to 32-bit",
    "convert64": "convert from and to 64-bit",
    "convert": "other conversions",
    "tensor": "tensor cores, f16 multiply-adds",
}

# 1.x to 3.0: guide 4.2 and 5.0; the product of 32-bit integers on 1.x: guide 2.3 (16 cycles a warp).  3.2 to 7.x: guide 10.  From 8.0 on, and warp
# votes and reductions: guides 11 and 12.  Tensor cores: the vendor's papers on each architecture.  Boards with fewer f64 units than the named
# device of their capability (GeForce on 2.0 and 3.5) are not here.
_TABLE = """
            1.0-1.1 1.2     1.3     2.0     2.1     3.0-3.2 3.5-3.7 5.0-5.2 5.3     6.0     6.1     6.2     7.0-7.2 7.5     8.0  8.6-8.7 8.9  9.0
f16         none    none    none    none    none    none    none    none    256     128     2       256     128     ~128    256  ~128    ~128 256
f32         8       8       8       32      48      192     192     128     128     64      128     128     64      64      64   128     128  128
f64         none    none    1       16      4       8       64      4       4       32      4       4       32      2       32   2       2    64
special     2       2       2       4       8       32      32      32      32      16      32      32      16      16      16   16      16   16
add         8       8       8       32      48      160     160     128     128     64      128     128     64      64      64   64      64   64
multiply    2       2       2       16      16      32      32      several several several several several 64      64      64   64      64   64
multiply24  8       8       8       several several several several several several several several several several several several several several several
shift       8       8       8       16      16      32      64      64      64      32      64      64      64      64      64   64      64   64
compare     8       8       8       32      48      160     160     64      64      32      64      64      64      64      64   64      64   64
reverse     several several several 16      16      32      32      64      64      32      64      64      16      16      16   16      16   16
field       several several several 16      16      32      32      64      64      32      64      64      several several several several several several
logic       8       8       8       32      48      160     160     128     128     64      128     128     64      64      64   64      64   64
leading     several several several 16      16      32      32      32      32      16      32      32      16      16      16   16      16   16
population  several several several 16      16      32      32      32      32      16      32      32      16      16      16   16      16   16
shuffle     none    none    none    none    none    32      32      32      32      32      32      32      32      16      32   32      32   32
vote        none    ~8      ~8      ~32     ~48     ~160    ~160    ~64     ~64     ~32     ~64     ~64     64      64      64   64      64   64
reduce      none    none    none    none    none    none    none    none    none    none    none    none    none    none    16   16      16   16
difference  several several several 16      16      32      32      64      64      32      64      64      64      64      64   64      64   64
convert8    8       8       8       16      16      128     128     32      32      16      32      32      64      64      64   64      64   64
convert64   none    none    ~1      16      4       8       32      4       4       16      4       4       16      2       16   2       2    16
convert     8       8       8       16      16      32      32      32      32      16      32      32      16      ~16     ~16  ~16     ~16  ~16
tensor      none    none    none    none    none    none    none    none    none    none    none    none    512     512     1024 512     512  2048
"""

# Row -> where its figures with a mark are from.
DERIVED: dict[str, str] = {
    "f16": "7.5 as 7.0; 8.6 and 8.9 as f32, from the papers on their architectures",
    "vote": "before 7.0 as compare",
    "convert64": "1.3 as f64",
    "convert": "after 7.0 as 7.0",
}
# Capability -> what holds for its whole column.
NOTES: dict[tuple[int, int], str] = {
    (8, 7): "8.7 has no column in the tables: it has that of 8.6",
    (9, 0): "9.0 was recorded too: the model of time has those figures",
}


def _cell(text: str) -> Rate:
    bare = text.removeprefix("~")
    return Rate(int(bare) if bare.isdigit() else 0, text, bare != text)


def _columns() -> dict[tuple[str, str], dict[str, Rate]]:
    """First and last capability of a column -> class -> rate."""
    head, *rows = (line.split() for line in _TABLE.strip().splitlines())
    ends = [(span.partition("-")[0], span.rpartition("-")[2]) for span in head]
    cells = {name: [_cell(text) for text in texts] for name, *texts in rows}
    return {span: {name: cells[name][n] for name in CLASSES} for n, span in enumerate(ends)}


_COLUMNS = _columns()


def rates(capability: tuple[int, int]) -> dict[str, Rate]:
    """The table's column of a compute capability.

    >>> rates((3, 5))["f32"].operations, rates((5, 2))["multiply"].text, rates((8, 6))["f16"].derived
    (192, 'several', True)
    """
    name = f"{capability[0]}.{capability[1]}"
    return next(column for (first, last), column in _COLUMNS.items() if first <= name <= last)
