"""The linker: who wins, what stays private, what does not fit together.  The verdicts are those of nvlink 13.0 for the same modules."""

from __future__ import annotations

import pytest

from warplab.assembler.diagnostics import EXPLANATIONS
from warplab.assembler.ir import Function, Variable
from warplab.assembler.link import LinkError, Program, link, link_modules
from warplab.assembler.objects import assemble
from warplab.assembler.parse import parse

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
X4 = ".visible .global .align 4 .u32 x = 5;"
F = ".visible .func (.param .b32 r) f(.param .b32 a) { ret; }"
KERNEL = ".visible .entry %s(.param .u64 p) { .reg .b32 %%r<4>; %s ret; }"


def loads(space: str, declaration: str, name: str = "k") -> str:
    """A module that declares x and reads it."""
    return declaration + KERNEL % (name, f"ld.{space}.u32 %r1, [x];")


def calls(params: str, returns: str = ".param .b32 r") -> str:
    """A module that declares f with this signature and calls it."""
    local = " ".join(f".param {p} i{n}{d};" for n, (p, d) in enumerate(_parameters(params)))
    names = ", ".join(f"i{n}" for n, _ in enumerate(_parameters(params)))
    declared = ", ".join(f".param {p} a{n}{d}" for n, (p, d) in enumerate(_parameters(params)))
    result = f"{returns.replace(' r', ' o')}; " if returns else ""
    call = f"call {'(o), ' if returns else ''}f{f', ({names})' if names else ''};"
    return f".extern .func {f'({returns}) ' if returns else ''}f({declared}); " + KERNEL % ("k", f"{{ {local} {result}{call} }}")


def _parameters(text: str) -> list[tuple[str, str]]:
    found = []
    for p in filter(None, text.split(",")):
        words, _, dim = p.strip().partition("[")
        found.append((words, "[" + dim if dim else ""))
    return found


def linked(*texts: str) -> Program:
    return link_modules([parse(HEAD + t, name=f"{i}.ptx") for i, t in enumerate(texts)])


def codes(*texts: str) -> list[str]:
    """The code words of what is wrong."""
    try:
        linked(*texts)
    except LinkError as e:
        return sorted({d.code for d in e.diagnostics if d.severity == "error"})
    return []


USE = loads("global", ".extern .global .align 4 .u32 x; ")
COMMON = ".common .global .align 4 .b8 x[%d];"
CASES: list[tuple[list[str], list[str]]] = [
    ([X4, USE], []),
    ([USE, X4], []),
    ([X4, loads("global", ".extern .global .align 4 .f32 x; ")], []),  # nvlink looks at sizes, not at types
    ([X4, loads("global", ".extern .global .align 8 .u64 x; ")], ["mismatched-size"]),
    ([X4, loads("global", ".extern .global .align 16 .u32 x; ")], []),
    ([X4, loads("const", ".extern .const .align 4 .u32 x; ")], ["mismatched-space"]),
    ([X4, ".extern .func x();" + KERNEL % ("k", "call x;")], ["mismatched-space"]),
    ([USE], ["unresolved-symbol"]),
    ([".extern .global .u32 x;"], ["unresolved-symbol"]),  # even where nothing uses it
    ([".extern .func f();"], []),  # a function that nothing calls is not a reference
    ([X4, X4], ["clashing-symbols"]),
    ([F, F], ["clashing-symbols"]),
    ([X4, ".weak .global .align 4 .u32 x = 7;", USE], []),
    ([".weak .global .u32 x;", ".weak .global .u64 x;"], ["mismatched-size"]),
    ([X4, ".weak .global .u64 x;"], ["mismatched-size"]),
    ([COMMON % 4, COMMON % 16], []),
    ([COMMON % 16, USE], ["mismatched-size"]),
    ([COMMON % 4, COMMON % 16, USE], ["mismatched-size"]),
    ([COMMON % 4, X4, USE], []),
    ([X4, COMMON % 16], ["common-too-big"]),
    ([".weak .global .align 4 .u32 x = 1;", COMMON % 16], ["common-too-big"]),
    ([COMMON % 16, ".weak .global .align 4 .u32 x = 1;"], ["common-too-big"]),
    ([".weak .global .u32 x;", COMMON % 4, USE], []),
    ([".global .u32 x = 1;", USE], ["unresolved-symbol"]),
    ([".global .u32 x = 1;", X4, USE], []),
    ([loads("global", ".extern .global .align 4 .b8 x[]; "), COMMON % 16], []),
    ([loads("global", ".extern .global .align 4 .b8 x[]; "), X4], []),
    ([F, calls(".b32")], []),
    ([F, calls(".u32")], []),
    ([F, calls(".align 4 .b32")], []),
    ([F, calls(".f32")], ["mismatched-signature"]),
    ([F, calls(".b64")], ["mismatched-signature"]),
    ([F, calls(".align 4 .b8[4]")], ["mismatched-signature"]),
    ([F, calls("")], ["mismatched-signature"]),
    ([F, calls(".b32", "")], ["mismatched-signature"]),
    ([F, ".extern .func f(.param .b64 a);"], []),
    ([".visible .func f(.param .align 8 .b8 a[8]) { ret; }", calls(".align 4 .b8[8]", "")], []),
    ([".visible .func (.param .b32 r) f(.reg .b32 a) { ret; }", calls(".b32")], []),
    ([".weak .func f(.param .b32 a) { ret; }", ".visible .func f(.param .b64 a) { ret; }"], ["mismatched-signature"]),
    ([".visible .func f() { ret; }", ".visible .entry f() { ret; }"], ["mismatched-space"]),
    ([".visible .func f() { ret; }", ".visible .global .u32 f;"], ["mismatched-space"]),
    ([".weak .entry k(.param .b32 a) { ret; }", ".weak .entry k(.param .b64 a) { ret; }"], ["mismatched-signature"]),
    ([".weak .entry k() { ret; }", ".visible .entry k() { ret; }"], []),
    ([".visible .entry k() { ret; }", ".visible .entry k() { ret; }"], ["clashing-symbols"]),
    ([".entry k() { ret; }", ".visible .entry k() { ret; }"], []),
    ([loads("shared", ".extern .shared .align 4 .b8 x[]; ")], []),  # the launch gives its size
    ([loads("shared", ".extern .shared .align 4 .b8 x[16]; ")], ["unresolved-symbol"]),
    ([".visible .shared .align 4 .b8 x[16];", loads("shared", ".extern .shared .align 4 .b8 x[]; ")], []),
    ([loads("const", ".extern .const .align 4 .b8 x[]; ")], ["unresolved-symbol"]),
    ([".visible .func f(); .func f() { ret; }", calls("", "")], []),
    ([".weak .func f(); .func f() { ret; }", calls("", "")], []),
    ([".func f() { ret; }", calls("", "")], ["unresolved-symbol"]),
    ([".visible .func g() { ret; } .visible .func f(); .alias f, g;", calls("", "")], []),
    ([".extern .func free(.param .b64 a);" + KERNEL % ("k", "{ .param .b64 a; call free, (a); }")], []),
    ([".extern .func memcpy();" + KERNEL % ("k", "call memcpy;")], ["unresolved-symbol"]),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_verdict(number: int) -> None:
    texts, wanted = CASES[number]
    assert codes(*texts) == wanted, "\n".join(texts)


def test_declaration_finds_its_definition() -> None:
    program = linked(X4 + F, USE.replace("k(", "k1("), calls(".b32"))
    defined, user, caller = program.modules
    x = user.variables["x"]
    assert program.definition(x) is defined.variables["x"] is program.variables["x"]
    f = caller.functions["f"]
    assert f.body is None and program.definition(f) is defined.functions["f"]
    assert set(program.kernels) == {"k", "k1"}
    assert program.definition(program.kernels["k"]) is program.kernels["k"]


def test_weak_definition_gives_way_in_its_own_module_too() -> None:
    program = linked(".weak .func f() { ret; } .weak .global .u32 x = 1;", ".visible .func f() { ret; } .visible .global .u32 x = 2;")
    weak, strong = program.modules
    assert program.definition(weak.functions["f"]) is strong.functions["f"]
    assert program.definition(weak.variables["x"]).initial == 2


def test_first_weak_and_largest_common_win() -> None:
    program = linked(
        ".weak .global .u32 x = 1;" + COMMON.replace("x", "y") % 4, ".weak .global .u32 x = 2;" + COMMON.replace("x", "y") % 12
    )
    assert program.variables["x"].initial == 1
    assert program.variables["y"].size == 12
    assert program.definition(program.modules[0].variables["y"]) is program.modules[1].variables["y"]


def test_private_names_stay_apart() -> None:
    text = ".global .u32 x = %d; .func f() { ret; } .visible .entry k%d() { .reg .b32 %%r<2>; ld.global.u32 %%r1, [x]; call f; ret; }"
    program = linked(*(text % (i, i) for i in range(2)))
    for i, module in enumerate(program.modules):
        assert program.definition(module.variables["x"]).initial == i
        assert program.definition(module.functions["f"]) is module.functions["f"]
    assert program.variables["x"].initial == 0  # the first where no linked name has it


def test_alias_stands_for_its_target() -> None:
    program = linked(".visible .func g() { ret; } .visible .func f(); .alias f, g;", calls("", ""))
    declaration = program.modules[1].functions["f"]
    assert program.definition(declaration).name == "g"
    assert program.functions["f"] is program.functions["g"]


def test_device_runtime_stays_open() -> None:
    program = linked(".extern .func free(.param .b64 a);" + KERNEL % ("k", "{ .param .b64 a; call free, (a); }"))
    free = program.modules[0].functions["free"]
    assert program.unresolved == ("free",)
    assert program.definition(free) is free


def test_error_names_both_places() -> None:
    with pytest.raises(LinkError) as error:
        linked("\n" + X4, X4)
    found = [(d.severity, d.file, d.span.line, d.code) for d in error.value.diagnostics]
    assert found == [("error", "1.ptx", 4, "clashing-symbols"), ("note", "0.ptx", 5, "clashing-symbols")]
    shown = str(error.value)
    assert "1.ptx:4:" in shown and "0.ptx:5:" in shown and X4 in shown


def test_all_errors_in_one_run() -> None:
    assert codes(X4 + F, X4 + calls(".f32"), KERNEL % ("j", "") + ".extern .global .u32 y;") == [
        "clashing-symbols",
        "mismatched-signature",
        "unresolved-symbol",
    ]


def test_address_sizes_do_not_mix() -> None:
    small = HEAD.replace("sm_90", "sm_20").replace("8.3", "3.0").replace("64", "32") + ".visible .entry k() { exit; }"
    with pytest.raises(LinkError, match="address-size-mismatch"):
        link_modules([parse(HEAD + X4), parse(small)])


def test_objects_link_as_texts_do() -> None:
    text = HEAD + USE
    program = link([assemble(HEAD + X4), text.encode()])
    found = program.definition(program.modules[1].variables["x"])
    assert isinstance(found, Variable) and found.initial == 5
    assert isinstance(program.kernels["k"], Function)


def test_every_code_is_explained() -> None:
    wanted = {code for _, found in CASES for code in found}
    assert wanted <= EXPLANATIONS.keys()
