"""Reads a .litmus file: its name, what holds at first, the threads with their places, the rows of instructions, the condition.

PTX SB
{ x=0; y=0; s @ surface aliases x; P0:r1=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1   | st.weak y, 1   ;
 ld.weak r1, y  | ld.weak r1, x  ;
exists (P0:r1 == 0 /\\ P1:r1 == 0)
"""

from __future__ import annotations

import re

from warplab.interpreter.litmus.events import GENERIC, Location, Thread

from .conditions import COMPARISONS, Combination, Comparison, HerdCondition, Named, Quantifier, Term
from .instructions import PROXIES, InstructionReader, registers_of
from .program import BYTES, HerdPlace, HerdTest, HerdThread
from .tokens import HerdToken, Tokens

MOST_THREADS = 16
MOST_DEPTH = 50  # of parentheses in a condition
_CONDITIONS = ("exists", "forall", "~", "not", "filter", "locations")
_THREAD = re.compile(r"P?(\d+)$")


def parse(text: str, file: str) -> HerdTest:
    """One test."""
    return HerdReader(text, file).test()


class HerdReader:
    def __init__(self, text: str, file: str) -> None:
        self.tokens = Tokens(text, file)
        self.places: dict[str, HerdPlace] = {}
        self.first: dict[Location, int] = {}
        self.registers: dict[tuple[int, str], int] = {}
        self.threads: list[Thread] = []
        self.readers: list[InstructionReader] = []
        self.known: list[set[str]] = []  # registers of each thread
        self._depth = 0

    def test(self) -> HerdTest:
        t = self.tokens
        if t.take().text.upper() != "PTX":
            raise t.error(HerdToken("", 0), "expected PTX and the name of the test: only tests of PTX are read")
        name = t.text.split("\n", 1)[0].split(None, 1)
        t.skip_to("{")
        t.expect("{")
        while not t.accept("}"):
            self._declaration()
            if t.peek().text != "}":
                t.expect(";")
        self._header()
        while t.peek().text not in (*_CONDITIONS, ""):
            self._row()
        threads = tuple(
            HerdThread(where, reader.finished(), {r: v for (n, r), v in self.registers.items() if n == where.number})
            for where, reader in zip(self.threads, self.readers, strict=True)
        )
        self.known = [registers_of(thread.instructions) | set(thread.registers) for thread in threads]
        for thread in threads:
            for i in thread.instructions:
                if i.name and i.kind != "barrier":
                    self._place(i.name)
        shown = self._shown()
        condition = self._condition()
        t.accept(";")
        if t.peek().text:
            raise t.unexpected("the end of the text")
        return HerdTest(name[1].strip() if len(name) > 1 else "", threads, self.places, self.first, condition, shown)

    # ------------------------------------------------------------ what holds at first

    def _declaration(self) -> None:
        t = self.tokens
        if t.accept(";"):
            return
        name = t.word("a declaration, such as x=0 or P0:r1=0")
        if t.accept(":"):
            register = t.word("a register")
            t.expect("=")
            self.registers[self._number(name), register.text] = t.number("a number: registers hold no addresses here")
        elif t.accept("@"):
            proxy = t.word("a proxy")
            if proxy.text not in PROXIES:
                raise t.unknown(proxy, "proxy", list(PROXIES))
            t.expect("aliases")
            of = self._place(t.word("a location").text)
            self.places[name.text] = HerdPlace(of.location, name.text) if proxy.text == GENERIC else of
        else:
            t.expect("=", "=, : or @")
            if t.accept("&") or t.peek().is_word:
                self.places[name.text] = self._place(t.word("a location").text)
            else:
                self.first[self._place(name.text).location] = t.number("a number") % (1 << 64)

    def _place(self, name: str) -> HerdPlace:
        """What a name stands for; one that nothing declares is a location of its own that holds 0."""
        if name not in self.places:
            location = ("global", len(self.places) * BYTES, BYTES)
            self.places[name] = HerdPlace(location)
            self.first.setdefault(location, 0)
        return self.places[name]

    # ------------------------------------------------------------ threads

    def _header(self) -> None:
        t = self.tokens
        blocks: dict[tuple[int, int], int] = {}
        while True:
            number = self._number(t.peek()) if t.peek().text else -1
            if number != len(self.threads):
                raise t.unexpected(f"the thread P{len(self.threads)}, as in P{len(self.threads)}@cta 0,gpu 0")
            if number >= MOST_THREADS:
                raise t.error(t.peek(), f"a litmus test has {MOST_THREADS} threads at most")
            t.take()
            t.expect("@")
            t.expect("cta")
            cta = t.number("the number of a block")
            t.expect(",")
            t.expect("gpu")
            device = t.number("the number of a device")
            block = blocks.setdefault((device, cta), len(blocks))
            self.threads.append(Thread(number, block, block, device))
            self.readers.append(InstructionReader(t, self.places.__contains__))
            if t.expect("|", "| and another thread, or ;") if t.peek().text != ";" else None:
                continue
            t.expect(";")
            return

    def _number(self, token: HerdToken) -> int:
        m = _THREAD.match(token.text)
        if m is None:
            raise self.tokens.error(token, f"expected a thread, such as P0, and found {token.text}")
        return int(m[1])

    def _row(self) -> None:
        t = self.tokens
        for n, reader in enumerate(self.readers):
            reader.cell()
            if t.peek().text == ";":
                break
            if n + 1 == len(self.readers):
                raise t.unexpected("; at the end of the row")
            t.expect("|", "|, or ; at the end of the row")
        t.expect(";")

    # ------------------------------------------------------------ the condition

    def _shown(self) -> tuple[str, ...]:
        t = self.tokens
        out = []
        if t.accept("locations"):
            t.expect("[")
            while not t.accept("]"):
                out.append(str(self._named()))
                t.accept(";")
        return tuple(out)

    def _condition(self) -> HerdCondition:
        t = self.tokens
        chosen = None
        if t.accept("filter"):
            chosen = self._either()
            t.accept(";")
        quantifier: Quantifier
        if t.accept("~", "not"):
            t.expect("exists")
            quantifier = "~exists"
        elif t.accept("forall"):
            quantifier = "forall"
        else:
            t.expect("exists", "exists, ~exists or forall")
            quantifier = "exists"
        return HerdCondition(quantifier, self._either(), chosen)

    def _either(self) -> Term:
        terms = [self._both()]
        while self.tokens.accept("\\/"):
            terms.append(self._both())
        return terms[0] if len(terms) == 1 else Combination("\\/", tuple(terms))

    def _both(self) -> Term:
        terms = [self._term()]
        while self.tokens.accept("/\\"):
            terms.append(self._term())
        return terms[0] if len(terms) == 1 else Combination("/\\", tuple(terms))

    def _term(self) -> Term:
        t = self.tokens
        if t.peek().text in ("~", "not", "("):
            self._depth += 1
            if self._depth > MOST_DEPTH:
                raise t.error(t.peek(), f"a condition has {MOST_DEPTH} parentheses and negations within each other at most")
            inner = self._inner()
            self._depth -= 1
            return inner
        left = self._named()
        if t.peek().text not in COMPARISONS:
            raise t.unexpected("a comparison, such as ==")
        return Comparison(left, t.take().text, self._named())

    def _inner(self) -> Term:
        if self.tokens.accept("~", "not"):
            return Combination("~", (self._term(),))
        self.tokens.expect("(")
        inner = self._either()
        self.tokens.expect(")")
        return inner

    def _named(self) -> Named:
        t = self.tokens
        bracket = t.accept("[")
        token = t.peek()
        if token.is_number:
            value = t.number("a number")
            return self._register(token, value) if t.accept(":") else value
        name = t.word("a number, a location or a register, such as P0:r1")
        if t.accept(":"):
            return self._register(name, self._number(name))
        if bracket:
            t.expect("]")
        if name.text not in self.places:
            raise t.unknown(name, "location", sorted(self.places))
        return name.text

    def _register(self, thread: HerdToken, number: int) -> str:
        t = self.tokens
        if not 0 <= number < len(self.threads):
            raise t.error(thread, f"there is no thread P{number}: the last one is P{len(self.threads) - 1}")
        register = t.word("a register")
        if register.text not in self.known[number]:
            raise t.unknown(register, f"register of P{number}", sorted(self.known[number]))
        return f"P{number}:{register.text}"
