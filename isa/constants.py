"""Which values the constant operands of the memory and synchronisation instructions may have, as ptxas holds them to it.

>>> 16 in allowed("cp", ("async", "cg", "shared", "global")), 8 in allowed("cp", ("async", "cg", "shared", "global"))
(True, False)
"""

from collections.abc import Collection, Container

_LINE = (128,)

# (opcode, words that the instruction has, values of its one constant operand); the first rule that fits counts.
RULES: tuple[tuple[str, frozenset[str], Container[int]], ...] = (
    ("cp", frozenset({"async", "cg"}), (16,)),
    ("cp", frozenset({"async", "ca"}), (4, 8, 16)),
    ("applypriority", frozenset(), _LINE),
    ("discard", frozenset(), _LINE),
    ("fence", frozenset({"tensormap::generic", "acquire"}), _LINE),
    ("tensormap", frozenset({"cp_fenceproxy"}), _LINE),
    ("st", frozenset({"bulk"}), (0,)),
    ("pmevent", frozenset({"mask"}), range(1 << 16)),
    ("pmevent", frozenset(), range(16)),
    ("setmaxnreg", frozenset(), range(24, 257, 8)),
    ("tensormap", frozenset({"elemtype"}), range(16)),
    ("tensormap", frozenset({"interleave_layout"}), range(3)),
    ("tensormap", frozenset({"swizzle_mode"}), range(4)),
    ("tensormap", frozenset({"fill_mode"}), range(2)),
    ("tensormap", frozenset({"swizzle_atomicity"}), range(4)),
    ("tensormap", frozenset(), range(5)),
)


def allowed(opcode: str, words: Collection[str]) -> Container[int] | None:
    """The values that the constant operand of this instruction may have; None where any will do."""
    return next((values for name, needed, values in RULES if name == opcode and needed <= set(words)), None)
