"""Which product each sum of a function fuses: what uses what, and which product ptxas prefers.

Within a stretch that nothing interrupts ptxas fuses a product into the sums that use it, if nothing else does.  A product with a factor that
needs no register, such as a constant, may stand anywhere before its sums.  What ptxas takes for an interruption, and which product it prefers
where both operands of a sum are products, was found by asking it: tests/data/contraction holds questions and answers.  contraction.py turns
the choice into instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warplab.assembler.flow import Flow
from warplab.assembler.flow.graphs import predecessors
from warplab.assembler.ir import Instruction, Operand, Register
from warplab.isa.types import TYPES

from ..plan.shapes import Known
from .chains import Chain
from .constants import Constants, Place
from .interruptions import ROUNDED, dead, nature

PRODUCTS = frozenset({"mul", "div"})
ONE = {"f64": 0x3FF << 52, "f32": 0x3F80_0000, "f16": 0x3C00}


@dataclass(slots=True, eq=False)
class Product:
    instruction: Instruction
    at: tuple[int, int]  # the chain, and the number of the instruction in it
    type: str
    ftz: bool
    stretch: int
    anywhere: bool  # may be fused wherever its sums stand
    sums: list[Sum] = field(default_factory=list)
    fusable: bool = True  # sums alone use it, all where it may be fused
    kept: bool = False  # some instruction reads the register that holds it
    addend: bool = False  # of a fused sum


@dataclass(slots=True, eq=False)
class Sum:
    instruction: Instruction
    at: tuple[int, int]
    type: str
    products: list[tuple[int, Product, bool]]  # the operand's number, what it holds, and whether its negation
    chosen: Product | None = None


# ---------------------------------------------------------------- what uses what


def is_free_product(i: Instruction, types: frozenset[str]) -> bool:
    if i.opcode == "div":  # a reciprocal times the dividend
        return i.modifiers[-1] == "f32" and i.modifiers[0] in ("approx", "full") and "f32" in types and i.guard is None
    return _type_of(i, types) != "" and i.guard is None and "sat" not in i.modifiers


def _type_of(i: Instruction, types: frozenset[str]) -> str:
    """The type of a free product or sum."""
    words = i.modifiers
    own = words[-1] if words else ""
    if own not in types or not isinstance(i.operands[0], Register) or (len(words) > 1 and words[-2] in TYPES):
        return ""
    # ptxas 13.0 contracts pairs of f32 whether they name .rn or not.
    return own if ROUNDED.isdisjoint(words) or (own == "f32x2" and "rn" in words) else ""


Held = tuple[Product, bool]  # a product, and whether its negation
Copies = Mapping[int, Sequence[tuple[int, int]]]  # what moves between registers without a mov: by id of an instruction, (to, from)


class Walk:
    """One way through the chains of a function: which register holds which product."""

    def __init__(
        self, flow: Flow, chains: Sequence[Chain], types: frozenset[str], known: Mapping[int, Known], constants: Constants, copies: Copies
    ) -> None:
        self.flow = flow
        self.chains = chains
        self.types = types
        self.known = known
        self.constants = constants
        self.copies = copies
        self.products: list[Product] = []
        self.sums: list[Sum] = []
        self.held: dict[int, Held] = {}  # by Register.index
        self.stretch = 0
        self.with_products = {
            b for c in chains for b in c.blocks for i in flow.blocks[b].instructions if i.opcode in PRODUCTS and is_free_product(i, types)
        }
        self.at = (0, 0)  # where the walk is: the chain, and the number of the instruction in it
        self.place: Place = (0, 0)  # and in its block

    # ------------------------------------------------------------ from chain to chain

    def go(self, live_in: Sequence[int], live_out: Sequence[int]) -> None:
        """Through all chains, then chooses what each sum fuses; `live_in` and `live_out`: the registers that are read later, by blocks."""
        number = {c.blocks[0]: n for n, c in enumerate(self.chains)}
        successors = [[number[s] for s in c.successors] for c in self.chains]
        before = predecessors(successors)
        at_start: list[dict[int, Held]] = []
        at_end: list[dict[int, Held]] = []
        for n, c in enumerate(self.chains):
            first, *others = [at_end[p] for p in before[n] if p < n] or [{}]
            changed = self._changed_in_loop(n, before) if first and any(p >= n for p in before[n]) else ()
            self.held = {r: h for r, h in first.items() if r not in changed and all(o.get(r) == h for o in others)}
            at_start.append(dict(self.held))
            live = live_out[c.blocks[-1]]
            self._chain(n, c, live)
            at_end.append({})
            for index, held in self.held.items():
                if live >> index & 1:
                    if held[0].anywhere:
                        at_end[n][index] = held
                    else:
                        _use(held[0])
        for n, following in enumerate(successors):
            for s in following:
                for index, held in at_end[n].items():  # what may be something else there is no product
                    if live_in[self.chains[s].blocks[0]] >> index & 1 and at_start[s].get(index) != held:
                        _use(held[0])
        choose(self.sums)

    def _changed_in_loop(self, head: int, before: Sequence[Sequence[int]]) -> set[int]:
        """The registers that are written in the loops that begin with a chain."""
        inside = {head}
        work = [p for p in before[head] if p >= head]
        while work:
            n = work.pop()
            if n not in inside:
                inside.add(n)
                work += before[n]
        blocks = {b for n in inside for b in self.chains[n].blocks}
        return {index for b in blocks for i in self.flow.blocks[b].instructions for index in self.known[id(i)].written}

    def _chain(self, number: int, chain: Chain, live: int) -> None:
        if not self.held and self.with_products.isdisjoint(chain.blocks):
            return
        self.stretch += 1
        places = [(b, n) for b in chain.blocks for n in range(len(self.flow.blocks[b].instructions))]
        instructions = [self.flow.blocks[b].instructions[n] for b, n in places]
        removed = dead(instructions, self.known, live)
        for n, (i, place) in enumerate(zip(instructions, places, strict=True)):
            self.at, self.place = (number, n), place
            k = self.known[id(i)]
            if nature(i).interrupts and self._guarded(i) is None:
                self.stretch += 1
            if n in removed:
                for index in (*k.read, *k.written):
                    self._keep(index)
                for index in k.written:
                    self.held.pop(index, None)
            else:
                self._step(i, k)

    def _guarded(self, i: Instruction) -> bool | None:
        """Does an instruction with a guard run?  None where that is not known."""
        value = None if i.guard is None else self.constants.of(i.guard.index, self.place)
        return None if value is None else bool(value) != i.guard_negated

    # ------------------------------------------------------------ from instruction to instruction

    def _step(self, i: Instruction, k: Known) -> None:
        new: Held | None = None
        if i.guard is not None and self._guarded(i) is False:
            return
        if i.opcode in PRODUCTS and is_free_product(i, self.types):
            if (source := self._by_one(i)) is not None:
                new = self._copy(source[0], source[1], k)
            else:
                for index in k.read:
                    self._read(index)
                new = self._product(i)
        elif i.opcode in ("add", "sub") and _type_of(i, self.types):
            self._sum(i)
        elif id(i) in self.copies:
            copied = [(to, self.held[source]) for to, source in self.copies[id(i)] if source in self.held]
            for index in k.read:
                self._keep(index)
            self._forget(k)
            for to, held in copied:
                self._meets(held[0])
                self.held[to] = held
            return
        elif (source := self._copied(i)) is not None:
            new = self._copy(*source, k)
        else:
            for index in k.read:
                self._read(index)
        self._forget(k)
        if new is not None:
            self.held[k.written[0]] = new

    def _product(self, i: Instruction) -> Held | None:
        a, b = i.operands[1:]
        t = TYPES[i.modifiers[-1]]
        values = [self.constants.value(o, t, self.place) for o in (a, b)]
        if None not in values:
            return None
        if i.opcode == "div":
            # A dividend of 1 or -1 leaves no product where both are flushed.
            if "ftz" in i.modifiers and values[0] is not None and values[0] & 0x7FFF_FFFF == ONE["f32"]:
                return None
            anywhere = values[1] is not None  # its reciprocal is a constant, too
        else:
            anywhere = any(self.constants.in_bank(o, t, self.place) for o in (a, b))
        found = Product(i, self.at, t.name, "ftz" in i.modifiers, self.stretch, anywhere)
        self.products.append(found)
        return found, False

    def _meets(self, product: Product) -> None:
        """A product is met again, where it may be too late to fuse it."""
        if product.stretch != self.stretch and not product.anywhere:
            product.fusable = False

    def _copy(self, source: Operand, minus: bool, k: Known) -> Held | None:
        """A register that holds what another does, perhaps with the other sign."""
        for index in k.read:
            self._keep(index)
        found = self.held.get(source.index) if isinstance(source, Register) else None
        if found is None:
            return None
        self._meets(found[0])
        return found[0], found[1] != minus

    def _copied(self, i: Instruction) -> tuple[Operand, bool] | None:
        """The source of an instruction that copies or negates a number, and whether it negates."""
        if i.guard is not None or len(i.operands) < 2 or not isinstance(i.operands[0], Register):
            return None
        if i.opcode == "selp" and (chosen := self.constants.value(i.operands[3], TYPES["pred"], self.place)) is not None:
            return i.operands[1 if chosen else 2], False
        if len(i.operands) != 2:
            return None
        d, source = i.operands
        assert isinstance(d, Register)
        if not isinstance(source, Register):
            return None
        if i.opcode == "mov":
            return (source, False) if source.type.bits == d.type.bits and d.vector == 1 else None
        held = self.held.get(source.index)
        if held is None:
            return None
        words = set(i.modifiers)
        if i.opcode == "cvt":
            return (source, False) if i.modifiers in (("f32", "f32"), ("f64", "f64")) else None
        # ptxas 13.0 negates a pair of bf16 with an instruction of its own.
        if i.opcode == "neg" and held[0].type in words and held[0].type != "bf16x2" and ("ftz" not in words or held[0].ftz):
            return source, True
        return None

    def _by_one(self, i: Instruction) -> tuple[Operand, bool] | None:
        """The other factor where one is 1 or -1, and whether it is -1."""
        t = TYPES[i.modifiers[-1]]
        if i.opcode == "div" or t.elements > 1 or t.name == "bf16" or "ftz" in i.modifiers:
            return None
        one = ONE[t.name]
        for factor, other in (i.operands[1:], i.operands[:0:-1]):
            bits = self.constants.value(factor, t, self.place)
            if bits is not None and isinstance(other, Register) and bits & ~(1 << t.bits - 1) == one:
                return other, bits != one
        return None

    def _sum(self, i: Instruction) -> None:
        type_, ftz = i.modifiers[-1], "ftz" in i.modifiers
        if i.guard is not None:
            self._read(i.guard.index)
        found = Sum(i, self.at, type_, [])
        for n, op in enumerate(i.operands[1:], 1):
            held = self.held.get(op.index) if isinstance(op, Register) else None
            if held is None:
                continue
            product = held[0]
            self._meets(product)
            if (product.type, product.ftz) != (type_, ftz) or any(product is other for _, other, _ in found.products):
                product.fusable = False
            found.products.append((n, *held))
            product.sums.append(found)
        self.sums.append(found)

    def _read(self, index: int) -> None:
        """Something that is not a sum reads a register."""
        if index in self.held:
            _use(self.held[index][0])

    def _keep(self, index: int) -> None:
        if index in self.held:
            self.held[index][0].kept = True

    def _forget(self, k: Known) -> None:
        """The registers that an instruction writes hold something else now."""
        for index in k.written:
            if not k.facts.kills:  # in some lanes only
                self._read(index)
            self.held.pop(index, None)


def _use(product: Product) -> None:
    """A product is needed as a number."""
    product.fusable, product.kept = False, True


# ---------------------------------------------------------------- which product is chosen


def choose(sums: Sequence[Sum]) -> None:
    """Gives each sum the product that it fuses: first those that are used once, then in the order of the text those that are used least."""
    for s in sums:
        alone = [p for _, p, _ in s.products if p.fusable and len(p.sums) == 1]
        if alone and TYPES[s.type].elements == 1:
            _fuse(s, alone[0])
    for s in sums:
        free = [p for _, p, _ in s.products if p.fusable and not p.addend]
        if free and s.chosen is None:
            _fuse(s, min(free, key=lambda p: len(p.sums)))


def _fuse(s: Sum, chosen: Product) -> None:
    s.chosen = chosen
    for _, p, _ in s.products:
        p.addend |= p is not chosen
