"""Small programs whose error shows in some orders only: blocks (or warps of one block) that play different roles."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """.version 8.0
.target sm_90
.address_size 64
.global .u32 lock, flag, count, data, turn, head, a, b;
.global .u32 items[8];
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<16>;
    .reg .b64 %o, %d, %own;
    .reg .pred %p, %q;
    ld.param.u64    %o, [out];
    mov.u32         %r0, ROLE;
    mad.wide.u32    %own, %r0, 64, %o;
    add.u64         %own, %own, 256;
"""
NOISE = "\n".join(f"st.global.u32 [%own+{4 * n}], {n};" for n in range(12))


@dataclass(frozen=True)
class Planted:
    """A body for each role, and what holds in every order of the right program."""

    roles: tuple[str, ...]
    expect: str
    by_warps: bool = False

    def text(self) -> str:
        """The whole program, with a comment that launches it."""
        parts = []
        for n, body in enumerate(self.roles):
            lines = [line.strip() for line in body.replace(";", ";\n").splitlines() if line.strip()]
            named = "\n".join("    " + line.replace("$", f"r{n}_") for line in lines)
            parts.append(f"    setp.ne.u32 %p, %r0, {n};\n    @%p bra over{n};\n{named}\n    ret;\nover{n}:\n")
        head = HEAD.replace(
            "mov.u32         %r0, ROLE",
            "mov.u32 %r0, %tid.x; shr.u32 %r0, %r0, 5; mov.u32 %r1, %tid.x" if self.by_warps else "mov.u32 %r0, %ctaid.x",
        )
        size = len(self.roles)
        launch = f"--grid 1 --block {32 * size}" if self.by_warps else f"--grid {size} --block 1"
        return f'//@ run {launch} --arg out:out=u32[128]:zeros --expect "{self.expect}"\n' + head + "".join(parts) + "    ret;\n}\n"


def add(place: str, n: int = 1) -> str:
    """A load, a sum and a store."""
    return f"ld.volatile.global.u32 %r2, [{place}]; add.u32 %r2, %r2, {n}; st.volatile.global.u32 [{place}], %r2;"


TAKE = "$take: atom.relaxed.gpu.global.cas.b32 %r3, [lock], 0, 1; setp.ne.u32 %p, %r3, 0; @%p bra $take;"
WAIT = "$wait: ld.relaxed.gpu.global.u32 %r4, [flag]; setp.eq.u32 %p, %r4, 0; @%p bra $wait;"
READ = "ld.relaxed.gpu.global.u32 %r5, [data]; st.global.u32 [%o], %r5;"
LAST = """st.relaxed.gpu.global.u32 [items+{0}], {1};
    atom.relaxed.gpu.global.add.u32 %r3, [count], 1; setp.ne.u32 %p, %r3, {2}; @%p ret; fence.acq_rel.gpu;
    ld.relaxed.gpu.global.u32 %r4, [items]; ld.relaxed.gpu.global.u32 %r5, [items+4]; add.u32 %r4, %r4, %r5;
    ld.relaxed.gpu.global.u32 %r5, [items+8]; add.u32 %r4, %r4, %r5; st.global.u32 [%o], %r4;"""
ONCE = (
    """ld.relaxed.gpu.global.u32 %r2, [flag]; setp.ne.u32 %p, %r2, 0; @%p bra $use;
    """
    + TAKE
    + """fence.acq_rel.gpu; ld.relaxed.gpu.global.u32 %r2, [flag]; setp.ne.u32 %p, %r2, 0; @%p bra $give;
    {0} $give: fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [lock], 0;
    $use: ld.relaxed.gpu.global.u32 %r5, [data]; st.global.u32 [%o+{1}], %r5;"""
)
EARLY = "st.relaxed.gpu.global.u32 [flag], 1; st.relaxed.gpu.global.u32 [data], 42;"
MAX = "ld.relaxed.gpu.global.u32 %r2, [data]; setp.ge.u32 %p, %r2, {0}; @%p bra $end; st.relaxed.gpu.global.u32 [data], {0}; $end: "
TICKET = """ld.relaxed.gpu.global.u32 %r2, [head]; add.u32 %r3, %r2, 1; st.relaxed.gpu.global.u32 [head], %r3;
    mad.wide.u32 %d, %r2, 4, %o; ld.global.u32 %r3, [%d]; add.u32 %r3, %r3, 1; st.global.u32 [%d], %r3;"""
ROOM = "ld.relaxed.gpu.global.u32 %r2, [count]; setp.ge.u32 %p, %r2, 2; @%p bra $full; atom.relaxed.gpu.global.add.u32 %r2, [count], 1; $full: "
BROKEN_LOCK = "$take: ld.relaxed.gpu.global.u32 %r3, [lock]; setp.ne.u32 %p, %r3, 0; @%p bra $take; st.relaxed.gpu.global.u32 [lock], 1;"
GIVE = "atom.relaxed.gpu.global.exch.b32 %r3, [lock], 0;"
PUSH = """$again: ld.relaxed.gpu.global.u32 %r2, [head]; add.u32 %r3, %r2, 1; atom.relaxed.gpu.global.cas.b32 %r4, [head], %r2, %r3;
    setp.ne.u32 %p, %r4, %r2; @%p bra $again; {0}"""
LOCK = "$take_{0}: atom.relaxed.gpu.global.cas.b32 %r3, [{0}], 0, 1; setp.ne.u32 %p, %r3, 0; @%p bra $take_{0};"
FREE = "atom.relaxed.gpu.global.exch.b32 %r3, [{0}], 0;"
DEKKER = "st.relaxed.gpu.global.u32 [{0}], 1; ld.relaxed.gpu.global.u32 %r2, [{1}]; st.global.u32 [%o+{2}], %r2;"

PLANTED = {
    "lost update": Planted(tuple(add("data", n) + READ for n in (1, 2)), "data[0] == 3"),
    "lost update among three": Planted(tuple(add("data", n) for n in (1, 2, 4)), "data[0] == 7"),
    "lost update behind other work": Planted(tuple(NOISE + add("data", n) + NOISE for n in (1, 2)), "data[0] == 3"),
    "lost update in a loop": Planted(
        tuple(f"mov.u32 %r6, 0; $on: {NOISE} add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, 6; @%p bra $on; {add('data', n)}" for n in (1, 2)),
        "data[0] == 3",
    ),
    "lost update of warps": Planted(
        tuple(f"setp.ne.u32 %p, %r1, {32 * n}; @%p ret; {add('data')}" for n in range(3)), "data[0] == 3", True
    ),
    "message without a fence": Planted(
        (f"st.relaxed.gpu.global.u32 [data], 42; {NOISE[:0]} st.relaxed.gpu.global.u32 [flag], 1;", WAIT + "fence.acq_rel.gpu;" + READ),
        "out[0] == 42",
    ),
    "message with a narrow fence": Planted(
        (
            "st.relaxed.gpu.global.u32 [data], 42; fence.acq_rel.cta; st.relaxed.gpu.global.u32 [flag], 1;",
            WAIT + "fence.acq_rel.gpu;" + READ,
        ),
        "out[0] == 42",
    ),
    "message behind other work": Planted(
        (NOISE + "st.relaxed.gpu.global.u32 [data], 42; st.relaxed.gpu.global.u32 [flag], 1;", WAIT + "fence.acq_rel.gpu;" + READ),
        "out[0] == 42",
    ),
    "a lock that is no atomic": Planted(tuple(BROKEN_LOCK + add("data") + GIVE for _ in range(2)), "data[0] == 2"),
    "a lock without release": Planted(
        tuple(TAKE + "fence.acq_rel.gpu;" + add("data", n) + "st.relaxed.gpu.global.u32 [lock], 0;" for n in (1, 2)), "data[0] == 3"
    ),
    "a lock without release behind other work": Planted(
        tuple(NOISE + TAKE + add("data", n) + "st.relaxed.gpu.global.u32 [lock], 0;" + NOISE for n in (1, 2)), "data[0] == 3"
    ),
    "last block without a fence": Planted(tuple(LAST.format(4 * n, n + 1, 2) for n in range(3)), "out[0] == 6"),
    "last block behind other work": Planted(tuple(NOISE + LAST.format(4 * n, n + 1, 2) for n in range(3)), "out[0] == 6"),
    "a flag checked twice, set early": Planted(tuple(ONCE.format(EARLY, 4 * n) for n in range(2)), "(out[:2] == 42).all()"),
    "maximum without an atomic": Planted(tuple(MAX.format(n) for n in (5, 9, 7)), "data[0] == 9"),
    "tickets without an atomic": Planted(tuple(TICKET for _ in range(3)), "(out[:3] == 1).all()"),
    "room checked, then taken": Planted(tuple(ROOM for _ in range(3)), "count[0] == 2"),
    "an item pushed before it is written": Planted(
        (
            PUSH.format("st.relaxed.gpu.global.u32 [items], 42;"),
            "$wait: ld.relaxed.gpu.global.u32 %r4, [head]; setp.eq.u32 %p, %r4, 0; @%p bra $wait; ld.relaxed.gpu.global.u32 %r5, [items]; st.global.u32 [%o], %r5;",
        ),
        "out[0] == 42",
    ),
    "two locks in two orders": Planted(
        (
            LOCK.format("a") + LOCK.format("b") + FREE.format("b") + FREE.format("a"),
            LOCK.format("b") + LOCK.format("a") + FREE.format("a") + FREE.format("b"),
        ),
        "a[0] == 0",
    ),
    "two locks behind other work": Planted(
        (
            NOISE + LOCK.format("a") + LOCK.format("b") + FREE.format("b") + FREE.format("a"),
            NOISE + NOISE + LOCK.format("b") + LOCK.format("a") + FREE.format("a") + FREE.format("b"),
        ),
        "a[0] == 0",
    ),
    "both enter": Planted((DEKKER.format("a", "b", 0), DEKKER.format("b", "a", 4)), "out[0] + out[1] >= 1"),
}
