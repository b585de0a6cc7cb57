"""Facts for people: offsets, sizes, live registers, and the drawing of control flow."""

from __future__ import annotations

import xml.etree.ElementTree as xml

import pytest

from warplab.assembler.flow.cfg import FlowGraph, as_dot, as_text, graph
from warplab.assembler.flow.cfg_svg import as_svg
from warplab.assembler.info import FunctionInfo, Registers, info
from warplab.assembler.parse import parse

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"


def facts(text: str, name: str = "k") -> FunctionInfo:
    return next(f for f in info(parse(HEAD + text)).functions if f.name == name)


def kernel(body: str, params: str = "") -> FunctionInfo:
    declared = ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .v2 .f32 %v<2>;"
    return facts(f".visible .entry k({params}) {{ {declared} {body} }}")


def test_parameters_stand_where_their_alignment_puts_them() -> None:
    f = kernel("ret;", ".param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c, .param .align 16 .b8 d[20], .param .f32 e")
    assert [(p.name, p.type, p.offset, p.size, p.align) for p in f.params] == [
        ("a", "u8", 0, 1, 1),
        ("b", "u64", 8, 8, 8),
        ("c", "u16", 16, 2, 2),
        ("d", "b8", 32, 20, 16),
        ("e", "f32", 52, 4, 4),
    ]
    assert f.params[1].pointer == ("global", 16)
    assert f.params[3].dims == (20,)
    assert f.param_bytes == 56


def test_live_registers_by_class() -> None:
    f = kernel(
        "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u64 %rd1, 3; add.u32 %r3, %r1, %r2; cvt.u64.u32 %rd2, %r3; add.u64 %rd3, %rd1, %rd2;"
        "st.global.u64 [%rd3], %rd1; setp.eq.u32 %p1, %r3, 0; @%p1 trap; ret;"
    )
    assert f.registers["32"] == Registers(declared=8 + 2 * 2, used=3, live=2)
    assert f.registers["64"] == Registers(declared=8, used=3, live=2)
    assert f.registers["pred"] == Registers(declared=8, used=1, live=1)
    assert f.registers["16"].used == 0
    assert f.live_words == 5  # %rd1, %rd3 and %r3 at the store


def test_a_vector_register_counts_its_elements() -> None:
    f = kernel("mov.f32 %v1.x, 0f00000000; mov.f32 %v1.y, 0f00000000; st.global.v2.f32 [%rd1], %v1; ret;")
    assert f.registers["32"].live == 2
    assert f.registers["32"].declared == 8 + 2 * 2


def test_values_live_across_a_loop() -> None:
    f = kernel(
        "mov.u32 %r1, 9; mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra L; st.global.u32 [%rd1], %r1; ret;"
    )
    assert f.registers["32"].live == 2
    assert (f.blocks, f.loops) == (3, 1)


def test_memory_follows_calls() -> None:
    f = facts(
        ".shared .align 4 .b8 a[10]; .shared .align 8 .b8 b[8]; .shared .b8 unused[100]; .extern .shared .b8 d[]; .const .u32 c[4];"
        ".func g() { .reg .b32 %r<3>; .local .b8 deep[64]; ld.shared.u32 %r1, [b]; ld.const.u32 %r2, [c]; ret; }"
        ".visible .entry k() { .reg .b32 %r<3>; .local .align 8 .b8 mine[12]; .shared .u8 own; ld.shared.u32 %r1, [a];"
        " ld.shared.u8 %r1, [own]; ld.shared.u32 %r2, [d]; call g; ret; }"
    )
    assert f.shared_bytes == 24  # a at 0, own at 10, b at 16
    assert f.dynamic_shared
    assert f.const_bytes == 16
    assert f.local_bytes == 12
    assert f.calls == ("g",)


def test_module_totals() -> None:
    m = info(
        parse(HEAD + ".global .u8 a; .global .u64 b; .const .u32 c; .extern .global .u32 e; .visible .entry k() { .shared .u64 s; ret; }")
    )
    assert (m.global_bytes, m.const_bytes, m.shared_bytes) == (16, 4, 8)


def test_barriers() -> None:
    f = kernel("bar.sync 0; barrier.sync 3, 64; bar.red.popc.u32 %r1, 5, %p1; bar.sync %r1; bar.warp.sync -1; ret;")
    assert f.barriers == (0, 3, 5)
    assert f.any_barrier


def test_directives() -> None:
    f = facts(".visible .entry k() .maxntid 128, 2, 1 .minnctapersm 2 { ret; }")
    assert f.directives == ((".maxntid", (128, 2, 1)), (".minnctapersm", (2,)))


# ---------------------------------------------------------------- control flow

NESTED = """
    mov.u32 %r1, 0;
outer:
    mov.u32 %r2, 0;
inner:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 5;
    @%p1 bra inner;
    setp.eq.u32 %p2, %r1, 3;
    @!%p2 bra odd;
    add.u32 %r1, %r1, 2;
    bra.uni join;
odd:
    add.u32 %r1, %r1, 1;
join:
    setp.lt.u32 %p3, %r1, 9;
    @%p3 bra outer;
    ret;
dead:
    bra dead;
"""


def drawn(body: str) -> FlowGraph:
    text = f"{HEAD}.visible .entry k() {{ .reg .pred %p<8>; .reg .b32 %r<8>; {body} }}"
    return graph(parse(text).functions["k"], text)


def test_graph_of_nested_loops() -> None:
    g = drawn(NESTED)
    at = {n.label: n for n in g.nodes}
    outer, inner, odd, join, dead = (at[x] for x in ("outer", "inner", "odd", "join", "dead"))
    assert [(x.header, x.depth, x.parent) for x in g.loops] == [(outer.index, 1, None), (inner.index, 2, 0)]
    assert (odd.depth, inner.depth, join.depth) == (1, 2, 1)
    fork = next(n for n in g.nodes if n.diverges and n.meets == join.index)
    assert join.gathers == (fork.index,)
    assert odd.idom == join.idom == fork.index
    assert {(e.kind, e.text, e.back) for e in g.edges if e.source == fork.index} == {("taken", "@!%p2", False), ("fall", "", False)}
    assert [(e.source, e.target) for e in g.edges if e.back and e.source != dead.index] == [
        (inner.index, inner.index),
        (join.index, outer.index),
    ]
    assert not dead.reachable
    assert not g.irreducible


def test_uniform_branches_do_not_diverge() -> None:
    g = drawn("@%p1 bra.uni L; add.u32 %r1, %r1, 1; L: ret;")
    assert not any(n.diverges for n in g.nodes)


def test_branch_tables_name_their_places() -> None:
    g = drawn("t: .branchtargets A, B, A; brx.idx %r1, t; A: add.u32 %r1, %r1, 1; B: ret;")
    assert [(e.kind, e.text) for e in g.edges if e.source == 0] == [("case", "0,2"), ("case", "1")]


def test_text_and_dot_tell_the_same() -> None:
    g = drawn(NESTED)
    text, dot = as_text(g), as_dot(g)
    for e in g.edges:
        assert f"B{e.source} -> B{e.target} " in dot
    for note in ("head of loop 1 in loop 0", "reconvergence point of", "unreachable", "loop 0, depth 1"):
        assert note in text
    assert dot.count("subgraph") == 2
    assert dot.count("{") == dot.count("}")


@pytest.mark.parametrize("body", [NESTED, "ret;", "", "L: bra L;", "@%p1 bra B; A: @%p2 bra B; ret; B: @%p3 bra A; ret;"])
def test_svg_shows_every_block_and_edge(body: str) -> None:
    g = drawn(body)
    root = xml.fromstring(as_svg(g))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [r for r in root.iter(space + "rect") if r.get("class", "").startswith("box")]
    edges = [p for p in root.iter(space + "path") if p.get("class", "").startswith("edge")]
    assert len(boxes) == len(g.nodes)
    assert len(edges) == len(g.edges)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    areas = []
    for b in boxes:
        x, y, w, h = (float(b.get(k, "-1")) for k in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        areas.append((x, y, x + w, y + h))
    for i, a in enumerate(areas):
        for b in areas[:i]:
            assert a[2] <= b[0] + 0.2 or b[2] <= a[0] + 0.2 or a[3] <= b[1] or b[3] <= a[1], "two blocks overlap"
    assert "prefers-color-scheme: dark" in as_svg(g)
