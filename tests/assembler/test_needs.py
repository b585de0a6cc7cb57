"""What older PTX said otherwise: .approx and roundings unnamed, kernels without a parameter list; what came or went with a version."""

import pytest

from tests.assembler.comparison import equal
from warplab.assembler import check, parse
from warplab.assembler.printer import print_module


def kernel(version: str, target: str, body: str) -> str:
    return f".version {version}\n.target {target}\n.entry k\n{{\n.reg .f32 %f<5>;\n.reg .f64 %d<5>;\n.reg .u64 %p<3>;\n{body}\nexit;\n}}\n"


def errors(text: str) -> list[str]:
    return [d.code for d in check(text, "sm_90") if d.severity == "error"]


UNNAMED = [f"{op}.f32 %f1, %f2;" for op in ("sin", "cos", "lg2", "ex2", "rcp", "sqrt", "rsqrt")]
UNNAMED += ["div.f32 %f1, %f2, %f3;", "div.f64 %d1, %d2, %d3;", "mad.f64 %d1, %d2, %d3, %d4;", "sqrt.f64 %d1, %d2;", "rsqrt.f64 %d1, %d2;"]


@pytest.mark.parametrize("line", UNNAMED)
def test_approximations_and_roundings_go_unnamed_before_ptx_1_4(line: str) -> None:
    for version, target, legal in ("1.0", "sm_10", True), ("1.3", "sm_13", True), ("1.4", "sm_13", False), ("8.0", "sm_90", False):
        assert (errors(kernel(version, target, line)) == []) == legal, version


@pytest.mark.parametrize(
    "line", ["rcp.f64 %d1, %d2;", "fma.f64 %d1, %d2, %d3, %d4;", "sin.approx.f32 %f1, %f2;", "div.full.f32 %f1, %f2, %f3;"]
)
def test_what_ptx_1_3_does_not_know(line: str) -> None:
    assert errors(kernel("1.3", "sm_13", line))


BODY = ".param .u64 out;\n{\n.param .align 8 .b8 s[16];\nld.param.u64 %p1, [s+8];\n}\nld.param.u64 %p2, [out];"


def test_the_body_of_an_old_kernel_declares_its_parameters() -> None:
    assert [errors(kernel(v, t, ".param .u64 out;")) for v, t in (("1.4", "sm_13"), ("2.0", "sm_20"))] == [["needs"], []]
    module = parse(kernel("1.3", "sm_13", BODY))
    entry = module.functions["k"]
    assert [(v.name, v.size) for v in entry.params] == [("out", 8), ("s", 16)]
    assert equal(module, parse(print_module(module)))
    assert errors(kernel("1.3", "sm_13", ".param .v2 .u32 out;"))
    assert errors(".version 1.3\n.target sm_13\n.entry k (.param .u64 a) { exit; }\n") == ["needs"]


MATRIX = ".reg .b32 r<8>;\n.reg .u64 a;\nwmma.load.a.sync{}.row.m16n16k16.f16 {{r0,r1,r2,r3,r4,r5,r6,r7}}, [a], 16;"
LINES = (
    ".global .u32 g;\n.func f()\n{\n.loc 1 9 3\n.loc 1 4 2, function_name $f, inlined_at 1 9 3\nret;\n}\n.section .debug_str\n{\n$f:\n}\n"
)
SECTION = ".section .debug_loc\n{{\n{}\n}}\n.global .u32 g;"
EACH = ".reg .pred %q;\n.reg .b16 h;\n.reg .b32 r;\n.reg .u64 a;\n.reg .s64 s;\n"


@pytest.mark.parametrize(
    ("line", "legal", "illegal"),
    [
        ("mad.f32 %f1, %f2, %f3, %f4;", ["2.3 sm_13", "3.1 sm_30", "8.0 sm_10"], ["3.2 sm_20", "3.2 sm_30", "8.0 sm_90"]),
        ("mad.sat.ftz.f32 %f1, %f2, %f3, %f4;", ["3.0 sm_20", "9.0 sm_13"], ["4.0 sm_35"]),
        (MATRIX.format(""), ["6.0 sm_70", "6.2 sm_70"], ["6.3 sm_70", "9.0 sm_90"]),
        (MATRIX.format(".aligned"), ["6.3 sm_70", "9.0 sm_90"], ["6.0 sm_70", "6.2 sm_72"]),
        (EACH + "atom.global.and.b64 s, [a], s;", ["3.1 sm_35", "4.0 sm_32"], ["3.1 sm_30"]),
        (EACH + "red.shared.max.s64 [a], s;", ["3.1 sm_35", "4.0 sm_32"], ["3.1 sm_30"]),
        ("barrier.cluster.arrive.relaxed.aligned;", ["8.0 sm_90"], ["7.8 sm_90"]),
        ("barrier.cluster.wait.acquire;", ["8.0 sm_90"], ["7.8 sm_90"]),
        ("barrier.cluster.arrive.aligned; barrier.cluster.wait;", ["7.8 sm_90"], ["8.0 sm_89"]),
        (EACH + "cvt.rn.f16x2.e4m3x2 r, h;", ["7.8 sm_90", "8.1 sm_89"], ["7.8 sm_89", "8.0 sm_89"]),
        (".global .u32 g;\n.global .u64 p = generic(g);", ["3.1 sm_20"], ["3.0 sm_20"]),
        (".global .u32 g;\n.global .u8 p[2] = {0xFF(g), 0xFF00 (g)};", ["7.1 sm_50"], ["7.0 sm_50"]),
        (EACH + "cp.async.ca.shared.global [r], [a], 4, %q;", ["7.5 sm_80"], ["7.4 sm_80"]),
        (EACH + "cp.async.cg.shared.global [r], [a], 16, !%q;", ["7.5 sm_80"], ["7.4 sm_80"]),
        (EACH + "ld.volatile.shared::cta.b32 r, [r];", ["7.8 sm_13", "7.8 sm_90"], ["7.7 sm_50"]),
        ("A:\nT: .branchtargets A;", ["6.0 sm_30"], ["5.0 sm_30", "6.0 sm_20"]),
        ("P:\n.callprototype _ (.reg .b32 a);", ["2.3 sm_20"], ["3.0 sm_13"]),
        ('.pragma "nounroll";', ["2.3 sm_13"], ["1.4 sm_13"]),
        ('.pragma "used_bytes_mask 0xf";', ["8.3 sm_50"], ["8.2 sm_50"]),
        ('.pragma "enable_smem_spilling";', ["8.7 sm_50"], ["8.6 sm_50"]),
        ('.pragma "frequency 5";', ["9.0 sm_50"], ["8.8 sm_50"]),
        (LINES, ["7.0 sm_50"], ["6.5 sm_50"]),
        (SECTION.format("A:"), ["7.0 sm_50"], ["6.5 sm_50"]),
        (SECTION.format(".b8 1 // Abbrev 0xb:0x2e {{A+4}} A-A"), ["2.3 sm_20", "9.0 sm_50"], []),
        (SECTION.format(".b32 .debug_loc+131\n.b64 .debug_loc"), ["3.2 sm_30"], ["3.1 sm_30"]),
        (SECTION.format("A:\n.b32 A-A"), ["7.5 sm_50"], ["7.4 sm_50"]),
    ],
)
def test_words_that_came_or_went_with_a_version(line: str, legal: list[str], illegal: list[str]) -> None:
    outside = line if line.startswith((".global", ".section")) else ""
    for header in legal + illegal:
        version, target = header.split()
        text = kernel(version, target, line.removeprefix(outside)) + outside
        assert bool(errors(text)) == (header in illegal), header


@pytest.mark.parametrize(
    ("before", "inlined", "section", "code"),
    [
        (".loc 1 9 3", "function_name $f, inlined_at 1 9 3", "$f:", []),
        (".loc 1 9 3", "function_name $f+4 , inlined_at 1 9 3", "$e: $f:", []),
        (".loc 1 8 3 /* a call */ .loc 1 9 3", "function_name $f, inlined_at 1 9 3", "$f:", []),
        ("/* .loc 1 9 3 */", "function_name $f, inlined_at 1 9 3", "$f:", ["bad-location"]),
        (".loc 1 9 3", "function_name $f, inlined_at 1 9 3", "// $f:", ["unresolved"]),
        (".loc 1 9 3", "function_name $f, inlined_at 1 9 4", "$f:", ["bad-location"]),
        ("// .loc 1 9 3", "function_name $f, inlined_at 1 9 3", "$f:", ["bad-location"]),
        (".loc 1 9 3", "function_name $f, inlined_at 1 9 3", ".b8 1", ["unresolved"]),
    ],
)
def test_where_something_was_inlined(before: str, inlined: str, section: str, code: list[str]) -> None:
    body = f"{before}\n.loc 1 4 2, {inlined}\n.loc 1 9 4"
    text = kernel("7.5", "sm_50", body).replace(".entry", '.file 1 "/*.cu"\n.entry')  # no comment begins there
    assert errors(f"{text}.section .debug_str\n{{\n{section}\n}}\n/* the end */\n") == code


def test_volatile_accesses_of_local_memory_came_with_ptx_9_1() -> None:
    for line in "ld.volatile.local.f32 %f1, [%p1];", "st.volatile.local.f32 [%p1], %f1;":
        assert [errors(kernel(version, "sm_90", line)) for version in ("9.0", "9.1", "9.4")] == [["word-and-space"], [], []]
    for line in "ld.relaxed.sys.local.f32 %f1, [%p1];", "ld.volatile.const.f32 %f1, [%p1];":
        assert errors(kernel("9.1", "sm_90", line)) == ["word-and-space"]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (".b8 255,-128, 0xFF, 010U\n.b16 65535,-32768\n.b32 -1,-2147483648,4294967296\n.b64 18446744073709551615\n.b8 0b11111111", []),
        ("L:\n.b32 L\n.b64 L+4\n.b32 L-L\n.b32 .debug_str\nM: .b8 1 .b8 2", []),
        (".b8 256", ["out-of-range"]),
        (".b8 1,-129", ["out-of-range"]),
        (".b8 0x100\n.b16 256", ["out-of-range"]),
        (".b16 65536", ["out-of-range"]),
        (".b8 0b100000000", ["out-of-range"]),
        (".b32 -2147483649", ["out-of-range"]),
        ("L: .b8 1\nL:", ["duplicate-name"]),
        ("L: .b8 L", ["syntax"]),
        ("L: .b32 1,L", ["syntax"]),
        ("L: .b32 L+L", ["syntax"]),
        ("L: .b64 L-4", ["syntax"]),
        (".b8 0f3F800000", ["syntax"]),
        (".b8 08", ["syntax"]),
    ],
)
def test_values_and_labels_of_sections(lines: str, code: list[str]) -> None:
    assert errors(kernel("9.0", "sm_90", "ret;") + f".section .debug_str\n{{\n{lines}\n}}\n") == code


@pytest.mark.parametrize("place", ["1 4294967296 1", "4294967296 1 1", "1 1 0x100000000"])
def test_numbers_of_a_source_location_have_32_bits(place: str) -> None:
    assert errors(kernel("9.0", "sm_90", f".loc {place}\nret;").replace(".entry", '.file 1 "a.cu"\n.entry')) == ["out-of-range"]
    assert errors(kernel("9.0", "sm_90", ".loc 1 4294967295 0x10\nret;").replace(".entry", '.file 1 "a.cu"\n.entry')) == []


@pytest.mark.parametrize(
    ("text", "line"),  # of the error; 0: legal
    [
        (".entry k(.param .u64 .align 8 x) { ret; }", 0),
        (".entry k(.param .u64 .ptr .global .align 8 x) { ret; }", 0),
        (".entry k() { p: .callprototype _ (.param .u32 .align 4 _); ret; }", 0),
        (".entry k(\n.param .u64 .f32\n)\n{ ret; }", 5),
        (".entry k(\n.param .u64 .reg\n)\n{ ret; }", 5),
        (".entry k(\n.param .u64 x,\n.param .u64 .ptr .align 8 .b32\n)\n{ ret; }", 6),
        (".entry k() {\n.param .u64 .ptr .align 1\n.b32 x<\n>; ret; }", 5),
        (".entry k() {\n.reg .b32\n.pred x y;\nret; }", 6),
        (".entry k(\n.param .u64 .ptr .align 1 x\n{ ret; }", 6),
        (".entry k(\n.param .u64 .align 1 x\nend\n{ ret; }", 6),
        (".func f(\n.param .b32\n) { ret; }", 6),
        (".func f(.param .u64 .align 8 x) { ret; }", 4),
        (".entry k(.param .u64 .align 8 .align 4 x) { ret; }", 4),
        (".entry k(.param .u64 .align 4 .ptr x) { ret; }", 4),
        (".entry k(.param .u64 .ptr .align 4 .global x) { ret; }", 4),
        (".global .u32 .align 8 x;", 4),
        (".entry k() { .local .u32 .align 8 x; ret; }", 4),
    ],
)
def test_the_order_of_the_words_of_a_declaration(text: str, line: int) -> None:
    found = check(f".version 9.0\n.target sm_90\n.address_size 64\n{text}\n", warnings=())
    assert ([d.span.line for d in found[:1]] or [0]) == [line], found


@pytest.mark.parametrize(
    "line", ["atom.shared.add.u64 %p1, [m], %p2;", "atom.shared.cas.b64 %p1, [m], %p2, %p2;", "red.shared.add.u64 [m], %p1;"]
)
def test_atomics_of_64_bits_reached_shared_memory_with_sm_20(line: str) -> None:
    body = ".shared .b64 m; .global .b64 g;\n"
    for version, target in ("1.4", "sm_12"), ("2.0", "sm_13"), ("4.0", "sm_13"):
        assert errors(kernel(version, target, body + line)) == ["needs"]
        assert errors(kernel(version, target, body + line.replace("shared", "global").replace("[m]", "[g]"))) == []
    assert errors(kernel("2.0", "sm_20", body + line)) == []


@pytest.mark.parametrize(("target", "legal"), [("sm_90", True), ("sm_100", True), ("sm_120", False)])
def test_from_sm_120_on_the_source_of_a_copy_to_a_cluster_has_64_bits(target: str, legal: bool) -> None:
    copies = "", ".tensor.1d"
    for copy, source in zip(copies, ("[%r1], 16", "[%r1, {%r1}]"), strict=True):
        line = f"cp.async.bulk{copy}.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], {source}, [%r1];"
        text = f".version 9.0\n.target {target}\n.entry k() {{\n.reg .b32 %r1;\n{line}\nret;\n}}\n"
        assert ([d.code for d in check(text, target) if d.severity == "error"] == []) == legal
        wide = text.replace(source, source.replace("[%r1", "[%d1")).replace(".reg .b32 %r1;", ".reg .b32 %r1; .reg .b64 %d1;")
        assert [d.code for d in check(wide, target) if d.severity == "error"] == []
