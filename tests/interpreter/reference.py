"""The engine's judge: PTX programs one lane at a time, in plain Python integers, by the words of the manual.

A Program is a list of functions whose items are labels and instructions; it can be written as PTX text and it can be executed here.
Nothing is shared with the engine: no arrays, no waves, no reconvergence.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

WIDTHS = {"r": 32, "c": 32, "s": 32, "d": 64, "a": 64, "h": 16, "v": 32, "p": 1}  # bits of a register, by its first letter
KINDS = {"r": "b32", "c": "b32", "s": "b32", "d": "b64", "a": "b64", "h": "b16", "p": "pred"}
MASK = {bits: (1 << bits) - 1 for bits in (1, 16, 32, 64)}
CODE = 0x1000  # the reference's own function addresses


BY_MEMORY = "by memory"  # instead of a prototype: arguments and results go through .param space


@dataclass(frozen=True)
class Memory:
    """[base + offset]"""

    base: str
    offset: int = 0

    def __str__(self) -> str:
        return f"[{self.base}+{self.offset}]"


class Several(tuple[str, ...]):
    """{a, b}"""

    def __str__(self) -> str:
        return f"{{{', '.join(self)}}}"


class Whole(Several):
    """%v0, a vector register, by the names of its elements."""

    def __str__(self) -> str:
        return self[0].partition(".")[0]


@dataclass(frozen=True)
class Instruction:
    """One instruction; destinations come first."""

    op: str
    args: tuple[Any, ...] = ()
    guard: str = ""  # "%p1" or "!%p1"

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard else ""
        if self.op == "call":
            result, callee, given, prototype = self.args
            if prototype != BY_MEMORY:
                return f"{guard}call ({result}), {callee}, ({', '.join(given)}){', ' + prototype if prototype else ''};"
            places = ", ".join(f"given{n}" for n in range(len(given)))
            stores = "".join(f".param .{KINDS[a[1]]} given{n}; st.param.{KINDS[a[1]]} [given{n}], {a}; " for n, a in enumerate(given))
            kind = KINDS[result[1]]
            return f"{{ {stores}.param .{kind} got; call (got), {callee}, ({places}); ld.param.{kind} {result}, [got]; }}"
        return f"{guard}{self.op} {', '.join(map(str, self.args))}".rstrip() + ";"


@dataclass(frozen=True)
class Label:
    """A place to go to; `text` is what else the PTX has there."""

    name: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass
class Function:
    """A function or an entry: what it takes and gives are registers; `local` is the size of its array."""

    name: str
    takes: tuple[str, ...] = ()
    gives: str = ""
    items: list[Instruction | Label] = field(default_factory=list)
    local: int = 0
    by_memory: bool = False  # takes and gives in .param space

    def places(self) -> dict[str, int]:
        """Labels to item numbers."""
        return {x.name: n for n, x in enumerate(self.items) if isinstance(x, Label)}


def signed(x: int, bits: int = 32) -> int:
    """A bit pattern as a signed number."""
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def quotient(a: int, b: int, top: int) -> int:
    """Division toward zero; by zero it gives all ones."""
    return -1 if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if abs(a) <= top else a


def remainder(a: int, b: int) -> int:
    """What division toward zero leaves; by zero all ones."""
    return -1 if b == 0 else (abs(a) % abs(b)) * (-1 if a < 0 else 1)


def permute(a: int, b: int, select: int) -> int:
    """prmt: bytes of b:a picked by the nibbles of a selector; the top bit of a nibble spreads the sign."""
    data = (b << 32 | a).to_bytes(8, "little")
    out = 0
    for n in range(4):
        nibble = select >> 4 * n & 15
        byte = data[nibble & 7]
        out |= ((0xFF if byte & 0x80 else 0) if nibble & 8 else byte) << 8 * n
    return out


def extract(a: int, at: int, count: int, is_signed: bool) -> int:
    """bfe: a field of bits, whose sign is bit 31 where the field reaches beyond it."""
    at, count = at & 255, count & 255
    if not count:
        return 0
    field_bits = a >> at & ((1 << count) - 1)
    if not is_signed:
        return field_bits
    sign = a >> min(at + count - 1, 31) & 1
    have = max(0, min(count, 32 - at))
    return field_bits | (-(sign << have) if sign else 0)


def insert(a: int, b: int, at: int, count: int) -> int:
    """bfi: the low bits of a into b."""
    at, count = at & 255, count & 255
    mask = ((1 << count) - 1) << at & 0xFFFFFFFF
    return (b & ~mask) | (a << at & mask)


def shift(a: int, n: int, bits: int, right: bool, arithmetic: bool = False) -> int:
    """Shifts clamp at the width."""
    if not right:
        return a << n if n < bits else 0
    return signed(a, bits) >> min(n, bits - 1) if arithmetic else a >> n if n < bits else 0


def logic3(a: int, b: int, c: int, table: int) -> int:
    """lop3: bit by bit by a table."""
    return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32))


PURE: dict[str, Callable[..., int]] = {
    "mov.b32": lambda a: a,
    "mov.u64": lambda a: a,
    "add.u32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "mul.hi.s32": lambda a, b: signed(a) * signed(b) >> 32,
    "mul.wide.u32": lambda a, b: a * b,
    "mul.wide.s32": lambda a, b: signed(a) * signed(b),
    "mad.lo.u32": lambda a, b, c: a * b + c,
    "mad.wide.u32": lambda a, b, c: a * b + c,
    "sad.s32": lambda a, b, c: abs(signed(a) - signed(b)) + c,
    "div.u32": lambda a, b: quotient(a, b, 1 << 32),
    "div.s32": lambda a, b: quotient(signed(a), signed(b), 1 << 31),
    "rem.u32": remainder,
    "rem.s32": lambda a, b: remainder(signed(a), signed(b)),
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "not.b32": lambda a: ~a,
    "neg.s32": lambda a: -a,
    "abs.s32": lambda a: abs(signed(a)),
    "min.s32": lambda a, b: min(signed(a), signed(b)),
    "max.s32": lambda a, b: max(signed(a), signed(b)),
    "min.u32": min,
    "max.u32": max,
    "shl.b32": lambda a, n: shift(a, n, 32, False),
    "shr.u32": lambda a, n: shift(a, n, 32, True),
    "shr.s32": lambda a, n: shift(a, n, 32, True, True),
    "shl.b64": lambda a, n: shift(a, n, 64, False),
    "shr.s64": lambda a, n: shift(a, n, 64, True, True),
    "shf.l.wrap.b32": lambda a, b, n: (b << 32 | a) << (n & 31) >> 32,
    "shf.r.clamp.b32": lambda a, b, n: (b << 32 | a) >> min(n, 32),
    "clz.b32": lambda a: 32 - a.bit_length(),
    "popc.b32": lambda a: a.bit_count(),
    "popc.b64": lambda a: a.bit_count(),
    "brev.b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "cnot.b32": lambda a: int(a == 0),
    "bfe.u32": lambda a, b, c: extract(a, b, c, False),
    "bfe.s32": lambda a, b, c: extract(a, b, c, True),
    "bfi.b32": insert,
    "prmt.b32": permute,
    "lop3.b32": logic3,
    "selp.b32": lambda a, b, p: a if p else b,
    "slct.s32.s32": lambda a, b, c: a if signed(c) >= 0 else b,
    "cvt.u64.u32": lambda a: a,
    "cvt.s64.s32": lambda a: signed(a),
    "cvt.u32.u64": lambda a: a,
    "cvt.s32.s8": lambda a: signed(a & 0xFF, 8),
    "cvt.u32.u16": lambda a: a & 0xFFFF,
    "cvt.sat.u8.s32": lambda a: min(max(signed(a), 0), 255),
    "cvt.s32.s16": lambda a: signed(a, 16),
    "cvt.u16.u32": lambda a: a,
    "add.u16": lambda a, b: a + b,
    "sub.s16": lambda a, b: a - b,
    "mul.lo.s16": lambda a, b: a * b,
    "mul.hi.s16": lambda a, b: signed(a, 16) * signed(b, 16) >> 16,
    "mul.wide.s16": lambda a, b: signed(a, 16) * signed(b, 16),
    "div.s16": lambda a, b: quotient(signed(a, 16), signed(b, 16), 1 << 15),
    "min.s16": lambda a, b: min(signed(a, 16), signed(b, 16)),
    "max.u16": max,
    "xor.b16": lambda a, b: a ^ b,
    "shl.b16": lambda a, n: shift(a, n, 16, False),
    "shr.s16": lambda a, n: shift(a, n, 16, True, True),
    "neg.s16": lambda a: -a,
    "add.u64": lambda a, b: a + b,
    "sub.u64": lambda a, b: a - b,
    "mul.lo.u64": lambda a, b: a * b,
    "xor.b64": lambda a, b: a ^ b,
    "min.s64": lambda a, b: min(signed(a, 64), signed(b, 64)),
    "max.u64": max,
    "not.pred": lambda a: not a,
    "and.pred": lambda a, b: a & b,
    "xor.pred": lambda a, b: a ^ b,
}
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
COMBINE: dict[str, Callable[[int, int], int]] = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
OPERAND_BITS = {"mul.wide.u32": 32, "mul.wide.s32": 32, "mad.wide.u32": 32, "mul.wide.s16": 16}  # where not those of the destination
UPDATE: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
    "exch": lambda a, b: b,
    "cas": lambda a, b, c: c if a == b else a,
    "inc": lambda a, b: 0 if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}


@dataclass
class Program:
    """Functions, of which the last is the entry `test`; its parameters are pointers to `buffers`."""

    functions: list[Function]
    buffers: tuple[str, ...]
    shared: int  # bytes, the array `shared`

    def text(self) -> str:
        """As PTX."""
        out = [".version 8.0\n.target sm_90\n.address_size 64", f".shared .align 8 .b8 shared[{max(self.shared, 8)}];"]
        for f in self.functions[:-1]:
            out.append(f"{self._head(f)};")
        for f in self.functions:
            used = sorted({a.strip("[]+") for x in f.items for a in _registers(x)} - {*f.takes, f.gives})
            declared = "".join(f".reg .{KINDS[r[1]]} {r}; " for r in used)
            local = f".local .align 8 .b8 local[{f.local}];" if f.local else ""
            declared += ".reg .v2 .b32 %v<2>; "
            items = [str(x) for x in f.items]
            if f.by_memory:
                declared += "".join(f".reg .{KINDS[r[1]]} {r}; " for r in (*f.takes, f.gives))
                items[:0] = [f"ld.param.{KINDS[r[1]]} {r}, [q{n}];" for n, r in enumerate(f.takes)]
                give = f"st.param.{KINDS[f.gives[1]]} [q], {f.gives}; "
                items = [give + text if isinstance(x, Instruction) and x.op == "ret" else text for x, text in _beside(f.items, items)]
            out.append("\n".join([self._head(f), "{", declared, local, *items, "}"]))
        return "\n".join(out)

    def _head(self, f: Function) -> str:
        if f is self.functions[-1]:
            return f".visible .entry {f.name}({', '.join(f'.param .u64 {b}' for b in self.buffers)})"
        if f.by_memory:
            taken = ", ".join(f".param .{KINDS[r[1]]} q{n}" for n, r in enumerate(f.takes))
            return f".func (.param .{KINDS[f.gives[1]]} q) {f.name}({taken})"
        gives = f"(.reg .{KINDS[f.gives[1]]} {f.gives}) " if f.gives else ""
        return f".func {gives}{f.name}({', '.join(f'.reg .{KINDS[r[1]]} {r}' for r in f.takes)})"


def _beside(items: list[Instruction | Label], texts: list[str]) -> Iterator[tuple[Instruction | Label | None, str]]:
    more = len(texts) - len(items)
    yield from ((None, text) for text in texts[:more])
    yield from zip(items, texts[more:], strict=True)


def _registers(x: Instruction | Label) -> Iterator[str]:
    if isinstance(x, Label):
        return
    flat = [x.guard.lstrip("!")]
    for a in x.args:
        flat += a if isinstance(a, tuple) else [a]
    for a in flat:
        name = a.base if isinstance(a, Memory) else a
        if isinstance(name, str):
            yield from (part for part in name.split("|") if part[:1] == "%" and part[1:2] in KINDS and part[2:].isdigit())


@dataclass(frozen=True)
class Question:
    """What a lane wants to know of others before it goes on."""

    what: str  # the opcode and its words, or "bar"
    value: int
    mask: int = 0  # the lanes of its warp that take part
    more: tuple[int, ...] = ()
    instruction: Any = None


def exchanged(what: str, asked: dict[int, Question], first: int) -> dict[int, Any]:
    """What lanes of one warp learn from one another, by thread."""
    name, *words = what.split(".")
    values = {lane: q.value for lane, q in asked.items()}
    out: dict[int, Any] = {}
    for lane, q in asked.items():
        if name == "vote":
            result: Any = sum(bool(v) << other for other, v in values.items())
        elif name == "redux":
            numbers = [signed(v) if words[-1] == "s32" else v for v in values.values()]
            result = reduce(UPDATE[words[1]], numbers)
        elif name == "match":
            result = sum((v == q.value) << other for other, v in values.items())
        else:
            result = shuffled(words[1], lane, q.more[0], q.more[1], values)
        out[first + lane] = result
    return out


def shuffled(mode: str, lane: int, b: int, c: int, values: dict[int, int]) -> tuple[int, int]:
    """shfl: the value of another lane, and whether that lane lies in the segment."""
    segment, clamp = c >> 8 & 31, c & 31
    low, high = lane & segment, (lane & segment) | (clamp & ~segment)
    if mode == "up":
        other, inside = lane - b, lane - b >= high
    else:
        other = {"down": lane + b, "bfly": lane ^ b, "idx": low | (b & ~segment & 31)}[mode]
        inside = other <= high
    return values[other if inside else lane], int(inside)


class Execution:
    """One launch: every block in turn, every lane in turn until it waits or ends."""

    def __init__(
        self, program: Program, grid: tuple[int, int, int], block: tuple[int, int, int], buffers: dict[str, tuple[int, bytearray]]
    ) -> None:
        self.program, self.grid, self.block, self.buffers = program, grid, block, buffers
        self.functions = {f.name: f for f in program.functions}
        self.places = {f.name: f.places() for f in program.functions}
        self.code = {CODE + 16 * n: f for n, f in enumerate(program.functions)}
        self.address = {f.name: at for at, f in self.code.items()}

    def run(self) -> None:
        """Executes everything; the buffers hold the result."""
        gx, gy, gz = self.grid
        for b in range(gx * gy * gz):
            self._block((b % gx, b // gx % gy, b // (gx * gy)))

    def _block(self, at: tuple[int, int, int]) -> None:
        bx, by, bz = self.block
        shared = bytearray(self.program.shared)
        lanes: dict[int, Generator[Question, Any, None]] = {}
        for t in range(bx * by * bz):
            lanes[t] = _Lane(self, at, (t % bx, t // bx % by, t // (bx * by)), shared, t).run()
        answer: dict[int, Any] = dict.fromkeys(lanes)
        asked: dict[int, Question] = {}
        while lanes:
            for t in list(lanes):
                if t in asked:
                    continue
                try:
                    asked[t] = lanes[t].send(answer[t])
                except StopIteration:
                    del lanes[t]
            self._answer(lanes.keys(), asked, answer)

    @staticmethod
    def _answer(living: Any, asked: dict[int, Question], answer: dict[int, Any]) -> None:
        equal: dict[tuple[int, int, int], list[int]] = {}
        for t, q in asked.items():
            if q.what != "bar":
                equal.setdefault((t >> 5, q.mask, id(q.instruction)), []).append(t)
        for (warp, mask, _), members in equal.items():
            if all(t in members for t in living if t >> 5 == warp and mask >> (t & 31) & 1):
                answer.update(exchanged(asked[members[0]].what, {t & 31: asked[t] for t in members}, warp << 5))
                for t in members:
                    del asked[t]
        if asked and all(t in asked and asked[t].what == "bar" for t in living):
            count = sum(asked[t].value for t in living)
            for t in list(living):
                answer[t] = count
                del asked[t]


class _Lane:
    """One thread."""

    def __init__(self, launch: Execution, ctaid: tuple[int, ...], tid: tuple[int, ...], shared: bytearray, linear: int) -> None:
        self.launch, self.shared = launch, shared
        self.special = {"%laneid": linear & 31, "%warpid": linear >> 5}
        for i, axis in enumerate("xyz"):
            values = {"tid": tid[i], "ctaid": ctaid[i], "ntid": launch.block[i], "nctaid": launch.grid[i]}
            self.special |= {f"%{name}.{axis}": v for name, v in values.items()}
        self.regs: dict[str, int] = {}
        self.given = 0  # by the last function that returned
        self.local = bytearray()
        self.carry = 0

    def run(self) -> Generator[Question, Any, None]:
        """Executes until the end; yields where the lane waits for others."""
        yield from self._function(self.launch.program.functions[-1], ())

    def _function(self, f: Function, given: tuple[int, ...]) -> Generator[Question, Any, bool]:
        """Executes a call; False if the lane has ended."""
        outer, self.regs = self.regs, dict(zip(f.takes, given, strict=True))
        hidden, self.local = self.local, bytearray(f.local)
        places, pc = self.launch.places[f.name], 0
        while pc < len(f.items):
            x = f.items[pc]
            pc += 1
            if isinstance(x, Label) or (x.guard and self.regs[x.guard.lstrip("!")] == (x.guard[0] == "!")):
                continue
            if x.op == "exit":
                return False
            if x.op == "ret":
                break
            if x.op in ("bra", "bra.uni"):
                pc = places[x.args[0]]
            elif x.op == "brx.idx":
                labels = x.args[1].targets
                pc = places[labels[self._value(x.args[0])]]
            elif x.op == "call":
                result, callee, arguments, _ = x.args
                target = self.launch.functions[callee] if callee[0] != "%" else self.launch.code[self.regs[callee]]
                going_on = yield from self._function(target, tuple(self._value(a) for a in arguments))
                if not going_on:
                    return False
                if result:
                    self.regs[result] = self.given
            elif x.op[:4] in ("vote", "redu", "matc", "shfl"):
                value, *more, mask = (self._value(a) & 0xFFFFFFFF for a in x.args[1:])
                result = yield Question(x.op, value, mask, tuple(more), x)
                p, _, q = x.args[0].partition("|")
                self._put(p, result[0] if isinstance(result, tuple) else result)
                if q:
                    self.regs[q] = result[1]
            elif x.op == "bar.sync":
                yield Question("bar", 0)
            elif x.op == "bar.red.popc.u32":
                self.regs[x.args[0]] = yield Question("bar", self._value(x.args[2]))
            else:
                self._plain(x)
        self.given = self.regs[f.gives] if f.gives else 0
        self.regs, self.local = outer, hidden
        return True

    def _value(self, a: Any) -> int:
        if isinstance(a, int):
            return int(a)
        if a[0] == "!":
            return int(not self.regs[a[1:]])
        if a in self.special:
            return self.special[a]
        if a in ("shared", "local"):
            return 0
        if a in self.launch.address:
            return self.launch.address[a]
        return self.regs[a]

    def _put(self, register: str, value: int) -> None:
        self.regs[register] = value & ((1 << WIDTHS[register[1]]) - 1)

    def _plain(self, x: Instruction) -> None:
        name, *words = x.op.split(".")
        if x.op in PURE:
            bits = OPERAND_BITS.get(x.op) or WIDTHS[x.args[0][1]]
            self._put(x.args[0], PURE[x.op](*[a & MASK[bits] if isinstance(a, int) else self._value(a) for a in x.args[1:]]))
        elif x.op == "mov.b64":
            self._pack(x)
        elif x.op == "mov.v2.b32":
            for d, value in list(zip(x.args[0], [self._value(a) for a in x.args[1]], strict=True)):
                self._put(d, value)
        elif name == "setp":
            self._setp(x, words)
        elif name in ("add", "addc", "sub", "subc"):
            self._carry(x, name, "cc" in words)
        elif name == "ld" and words[0] == "param":
            self.regs[x.args[0]] = self.launch.buffers[x.args[1].strip("[]")][0]
        elif name == "ld":
            memory, at = self._place(words[0], x.args[1])
            size = int(words[-1][1:]) // 8
            for n, d in enumerate(x.args[0] if isinstance(x.args[0], Several) else (x.args[0],)):
                value = int.from_bytes(memory[at + n * size : at + n * size + size], "little")
                self._put(d, signed(value, 8 * size) if words[-1][0] == "s" else value)
        elif name == "st":
            memory, at = self._place(words[0], x.args[0])
            size = int(words[-1][1:]) // 8
            for n, b in enumerate(x.args[1] if isinstance(x.args[1], Several) else (x.args[1],)):
                memory[at + n * size : at + n * size + size] = (self._value(b) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        elif name in ("red", "atom"):
            operands: list[Any] = list(x.args[name == "atom" :])
            where = operands.pop(0)
            memory, at = self._place(words[0], where)
            old = int.from_bytes(memory[at : at + 4], "little")
            new = UPDATE[words[1]](old, *[self._value(b) & 0xFFFFFFFF for b in operands])
            memory[at : at + 4] = (new & 0xFFFFFFFF).to_bytes(4, "little")
            if name == "atom":
                self.regs[x.args[0]] = old
        else:
            raise NotImplementedError(x.op)

    def _pack(self, x: Instruction) -> None:
        """mov.b64 between a register and a pair."""
        d, a = x.args
        if isinstance(d, Several):
            value = self._value(a)
            for n, part in enumerate(d):
                self._put(part, value >> 32 * n)
        else:
            self._put(d, sum(self._value(part) << 32 * n for n, part in enumerate(a)))

    def _setp(self, x: Instruction, words: list[str]) -> None:
        bits, is_signed = int(words[-1][1:]), words[-1][0] == "s"
        a, b = (self._value(v) & ((1 << bits) - 1) for v in x.args[1:3])
        if is_signed:
            a, b = signed(a, bits), signed(b, bits)
        true, false = int(COMPARE[words[0]](a, b)), int(not COMPARE[words[0]](a, b))
        if len(x.args) > 3:
            other = self._value(x.args[3])
            true, false = COMBINE[words[1]](true, other), COMBINE[words[1]](false, other)
        p, _, q = x.args[0].partition("|")
        self.regs[p] = true
        if q:
            self.regs[q] = false

    def _carry(self, x: Instruction, name: str, writes: bool) -> None:
        a, b = (self._value(v) & 0xFFFFFFFF for v in x.args[1:])
        if name.startswith("sub"):  # a - b = a + ~b + 1; the flag is the carry of that sum
            b ^= 0xFFFFFFFF
        total = a + b + (self.carry if name.endswith("c") else int(name == "sub"))
        if writes:
            self.carry = total >> 32
        self._put(x.args[0], total)

    def _place(self, space: str, where: Memory) -> tuple[bytearray, int]:
        at = (self._value(where.base) + where.offset) & ((1 << 64) - 1)
        if space == "shared":
            return self.shared, at & 0xFFFFFFFF
        if space == "local":
            return self.local, at & 0xFFFFFFFF
        for start, data in self.launch.buffers.values():
            if start <= at < start + len(data):
                return data, at - start
        raise IndexError(hex(at))
