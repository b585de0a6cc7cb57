"""Blocks, edges, loops and liveness of functions, on small texts and against a plain per-instruction fixed point."""

import random

import pytest

from warplab.assembler.flow import accesses, flow
from warplab.assembler.parse import parse

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def graph(body, header=".visible .entry k(.param .u64 p)", registers=True):
    declared = ".reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<9>;\n" if registers else ""
    module = parse(f"{HEAD}{header}\n{{\n{declared}{body}\n}}\n")
    return flow(next(f for f in module.functions.values() if f.body is not None))


def names(made, mask):
    return {r.name for r in made.function.registers if mask >> r.index & 1}


def texts(made):
    return [[i.opcode for i in b.instructions] for b in made.blocks]


def test_a_straight_body_is_one_block():
    made = graph("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nret;")
    assert texts(made) == [["mov", "add", "ret"]]
    assert made.blocks[0].successors == () and made.blocks[0].terminator.opcode == "ret"
    assert made.rpo == (0,) and made.idom == (None,) and made.ipdom == (None,) and made.loops == ()


def test_the_taken_branch_comes_first():
    made = graph("@%p1 bra THEN;\nmov.u32 %r1, 1;\nbra MEET;\nTHEN:\nmov.u32 %r1, 2;\nMEET:\nret;")
    assert [b.successors for b in made.blocks] == [(2, 1), (3,), (3,), ()]
    assert made.idom == (None, 0, 0, 0) and made.ipdom == (3, 3, 3, None)
    assert made.predecessors == ((), (0,), (0,), (1, 2))
    assert [label.name for b in made.blocks for label in b.labels] == ["THEN", "MEET"]
    assert made.dominates(0, 3) and not made.dominates(1, 3)


def test_labels_and_branches_of_nested_scopes():
    made = graph("{ .reg .u32 x; mov.u32 x, 1; { L: add.u32 x, x, 1; @%p1 bra L; } }\nret;")
    assert texts(made) == [["mov"], ["add", "bra"], ["ret"]]
    assert made.blocks[1].successors == (1, 2)
    (loop,) = made.loops
    assert (loop.header, loop.latches, loop.blocks, loop.depth, loop.parent) == (1, (1,), (1,), 1, None)
    assert made.loop_of == (None, 0, None)


@pytest.mark.parametrize(
    "last, successors",
    [
        ("ret;", ()), ("exit;", ()), ("trap;", ()), ("@%p1 ret;", (1,)), ("@!%p1 exit;", (1,)), ("bra L;", (1,)), ("@%p1 bra L;", (1, 1)),
        ("call f;", (1,)), ("call stop;", ()), ("@%p1 call stop;", (1,)), ("call %rd1, never;", ()), ("call %rd1, once;", (1,)),
    ],
)  # fmt: skip
def test_what_ends_a_block(last, successors):
    header = ".func f() { ret; }\n.func stop() .noreturn { trap; }\n.visible .entry k()"
    module = parse(
        f"{HEAD}{header}\n{{ .reg .pred %p1; .reg .u64 %rd1; never: .callprototype _ () .noreturn;\nonce: .callprototype _ ();\n{last}\nL: ret; }}"
    )
    assert flow(module.functions["k"]).blocks[0].successors == successors


def test_a_jump_table_has_an_edge_for_each_place():
    made = graph("t: .branchtargets A, B, A;\n@%p1 brx.idx %r1, t;\nret;\nA: ret;\nB: ret;")
    assert made.blocks[0].successors == (2, 3, 2, 1)
    assert made.predecessors[2] == (0,)


def test_falling_off_the_end_has_a_block_of_its_own_where_it_is_a_choice():
    assert texts(graph("L: @%p1 bra L;")) == [["bra"], []]
    assert texts(graph("@%p1 ret;")) == [["ret"], []]
    assert texts(graph("mov.u32 %r1, 1;")) == [["mov"]]
    assert texts(graph("bra L; L:")) == [["bra"], []]
    assert texts(graph("")) == [[]]


def test_unreachable_blocks_are_known():
    made = graph("bra END;\nmov.u32 %r1, 1;\nEND: ret;")
    assert made.reachable == {0, 2} and made.rpo == (0, 2) and made.idom == (None, None, 0)


def test_what_follows_a_loop_comes_after_it_although_it_stands_before():
    made = graph("HEAD: @%p1 bra BODY;\nret;\nBODY: @%p2 bra HEAD;\n@%p3 bra OTHER;\nbra HEAD;\nOTHER: bra HEAD;")
    assert len(made.loops) == 1
    assert made.rpo[-1] == 1 and made.rpo[0] == 0
    assert not made.irreducible


def test_a_loop_with_two_entries_is_irreducible():
    assert graph("@%p1 bra B;\nA: mov.u32 %r1, 1;\nB: @%p2 bra A;\nret;").irreducible


def test_a_loop_without_an_exit_has_a_place_to_meet():
    made = graph("LOOP: @%p1 bra SKIP;\nmov.u32 %r1, 1;\nSKIP: bra LOOP;")
    assert made.ipdom[0] == 2


def test_locations_follow_the_text():
    body = ".reg .u32 %r1;\nmov.u32 %r1, 0;\n.loc 1 7 3\nadd.u32 %r1, %r1, 1;\nret;"
    module = parse(f'{HEAD}.file 1 "a.cu"\n.visible .entry k() {{ {body} }}')
    (block,) = flow(module.functions["k"]).blocks
    assert [at and (at.line, at.column) for at in block.locations] == [None, (7, 3), (7, 3)]


@pytest.mark.parametrize(
    "statement, read, written",
    [
        ("add.u32 %r1, %r2, %r3;", "%r2 %r3", "%r1"),
        ("@!%p1 mov.u32 %r1, %r1;", "%p1 %r1", "%r1"),
        ("st.global.v2.u32 [%rd1+4], {%r1, %r2};", "%rd1 %r1 %r2", ""),
        ("ld.global.v2.u32 {%r1, _}, [%rd1];", "%rd1", "%r1"),
        ("setp.eq.and.u32 %p1|%p2, %r1, %r2, !%p3;", "%r1 %r2 %p3", "%p1 %p2"),
        ("mov.b64 {%r1, %r2}, %rd1;", "%rd1", "%r1 %r2"),
        ("atom.global.add.u32 _, [%rd1], %r1;", "%rd1 %r1", ""),
        ("red.global.add.u32 [%rd1], %r1;", "%rd1 %r1", ""),
        ("call (%r1), f, (%r2, 5);", "%r2", "%r1"),
        ("call f2, (%r2);", "%r2", ""),
        ("vmad.u32.u32.u32 %r1, %r2, -%r3, %r4;", "%r2 %r3 %r4", "%r1"),
        ("vadd.u32.u32.u32 %r1.b0, %r2.b1, %r3, %r4;", "%r1 %r2 %r3 %r4", "%r1"),
        ("bar.sync 0;", "", ""),
    ],
)  # fmt: skip
def test_what_an_instruction_reads_and_writes(statement, read, written):
    header = ".func (.reg .u32 r) f(.reg .u32 a, .reg .u32 b) { ret; }\n.func f2(.reg .u32 a) { ret; }\n.visible .entry k()"
    module = parse(f"{HEAD}{header}\n{{ .reg .pred %p<9>; .reg .u32 %r<9>; .reg .u64 %rd<9>;\n{statement}\nret; }}")
    instruction = flow(module.functions["k"]).blocks[0].instructions[0]
    found = [{r.name for r in part} for part in accesses(instruction)]
    assert found == [set(read.split()), set(written.split())]


def test_a_guarded_write_leaves_the_old_value_alive():
    made = graph("mov.u32 %r1, 1;\nbra NEXT;\nNEXT:\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;")
    assert names(made, made.live_in[1]) == {"%p1", "%r1", "%rd1"}
    assert names(made, made.live_out[0]) == {"%p1", "%r1", "%rd1"}
    assert names(made, made.live_in[0]) == {"%p1", "%rd1"}


def test_results_in_registers_are_read_by_the_return():
    made = graph("mov.u32 r, a;\n@%p1 ret;\nadd.u32 r, r, 1;", ".func (.reg .u32 r) f(.reg .u32 a)")
    assert names(made, made.live_in[0]) == {"a", "%p1"}
    assert names(made, made.live_in[1]) == {"r"} and names(made, made.live_out[1]) == {"r"}


def random_body(rng):
    """Straight lines, guards and branches at random."""
    count = rng.randint(3, 25)
    lines = []
    for i in range(count):
        lines.append(f"L{i}:")
        a, b, c = (f"%r{rng.randrange(6)}" for _ in range(3))
        guard = rng.choice(["", "", f"@%p{rng.randrange(3)} "])
        lines.append(
            guard
            + rng.choice(
                [f"add.u32 {a}, {b}, {c};"] * 4
                + [f"bra L{rng.randrange(count)};", f"@%p1 bra L{rng.randrange(count)};"] * (guard == "")
                + [f"setp.eq.u32 %p{rng.randrange(3)}, {a}, {b};", "ret;", f"mov.b64 {{{a}, {b}}}, %rd1;", f"mov.u32 {a}, 1;"]
            )
        )
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(60))
def test_liveness_against_a_fixed_point_over_instructions(seed):
    made = graph(random_body(random.Random(seed)))
    flat = [(b.index, k, i) for b in made.blocks for k, i in enumerate(b.instructions)]
    first = {b.index: next((n for n, (x, _, _) in enumerate(flat) if x >= b.index), None) for b in made.blocks}
    live = [set() for _ in flat]
    changed = True
    while changed:
        changed = False
        for n in reversed(range(len(flat))):
            index, k, instruction = flat[n]
            block = made.blocks[index]
            after = [n + 1] if k + 1 < len(block.instructions) else [first[s] for s in block.successors]
            out = set().union(*(live[m] for m in after if m is not None and m < len(flat)))
            read, written = accesses(instruction)
            kept = out if instruction.guard is not None else out - set(written)
            new = kept | set(read)
            changed |= new != live[n]
            live[n] = new
    for b in made.blocks:
        if b.index in made.reachable and b.instructions:
            assert names(made, made.live_in[b.index]) == {r.name for r in live[first[b.index]]}
            walked = list(made.live_after(b.index))
            assert [i for i, _ in walked] == list(reversed(b.instructions))
            for n, (_, mask) in zip(range(first[b.index] + len(b.instructions) - 1, first[b.index], -1), walked[1:], strict=False):
                assert names(made, mask) == {r.name for r in live[n]}


def test_long_bodies_are_quick():
    made = graph("\n".join(f"L{i}: add.u32 %r1, %r1, 1; @%p1 bra L{max(0, i - 3)};" for i in range(5000)) + "\nret;")
    assert len(made.rpo) == 5001 and made.ipdom[0] == 1
    assert names(made, made.live_in[0]) == {"%r1", "%p1"}
