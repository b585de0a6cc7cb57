"""What each row of the instruction tables is held against: the H200 recordings that the tests carry, the models, ptxas's verdicts.

Every recording is run here, and counts only for the rows that it needs.  Which rows the tests against models perform is known from a trace
of them, tests/data/model.json, which model.py writes.
"""

from __future__ import annotations

import functools
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.assembler import test_verify
from tests.interpreter.recordings import test_conformance, test_programs, test_recorded_forms
from tests.isa import (
    conftest,
    test_float_recordings,
    test_integer_recorded,
    test_matrix_recorded,
    test_memory_operations,
    test_queries,
    test_sfu,
    test_surfaces,
    test_textures_recorded,
    test_warp,
)
from tests.runtime.driver import test_recorded_tensor_copies
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.parse import parse
from warplab.assembler.verify import check
from warplab.assembler.walk import statements
from warplab.interpreter.plan.roles import fitting
from warplab.isa.notation import Form, resolve

from .rows import MODEL, Row, performed, row_of, rows


@dataclass
class Source:
    """One set of recordings: what it is, how many cases, which failed, how many cases need each row."""

    title: str
    what: str
    cases: int = 0
    failed: list[str] = field(default_factory=list)
    rows: Counter[Row] = field(default_factory=Counter)

    def case(self, name: str, needed: Iterable[Form], run: Callable[[], object]) -> None:
        """Runs one case; it counts for its rows if it gives what was recorded."""
        self.count(name, needed, passes(run))

    def count(self, name: str, needed: Iterable[Form], passed: bool) -> None:
        """Counts one case that has run."""
        self.cases += 1
        if passed:
            self.rows.update({row_of(f) for f in needed})
        else:
            self.failed.append(name)


def passes(run: Callable[[], object]) -> bool:
    """Does a case give what was recorded?"""
    try:
        with np.errstate(all="ignore"):
            run()
    except Exception:
        return False
    return True


def forms_of(texts: Iterable[str]) -> list[Form]:
    """The forms of all instructions of some modules, chosen by their operands as the engine does."""
    found = []
    for text in texts:
        for item in parse(text).items:
            if isinstance(item, Function):
                found += [f for s in statements(item.body) if isinstance(s, Instruction) and (f := fitting(s).form) is not None]
    return found


def named(spelling: str) -> Form:
    """The form of a spelling."""
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, spelling
    return found[0]


def _by_test(source: Source, name: str, test: Callable[..., object], *arguments: Any) -> None:
    """Counts a test for the rows that it performs, which its text does not say."""
    with performed() as seen:
        passed = passes(lambda: test(*arguments))
    source.count(name, seen, passed)


def modules() -> Source:
    """Whole modules with one instruction under test each."""
    out = Source("modules", "a module around an instruction, with inputs and outputs")
    for case in test_conformance.CASES:
        out.case(case["name"], forms_of([case["ptx"]]), functools.partial(test_conformance.compare, case))
    return out


def forms() -> Source:
    """Kernels around one form each."""
    out = Source("forms", "a kernel around one form of an instruction, on 128 lanes")
    for number, k in enumerate(test_recorded_forms.KERNELS):
        out.case(k["name"], forms_of([k["text"]]), functools.partial(test_recorded_forms.compare, number))
    return out


def programs() -> Source:
    """What compilers made."""
    out = Source("programs", "a program that nvcc, clang, numba or Triton compiled, with all that it leaves in memory")
    for name, record in test_programs.PROGRAMS.items():
        out.case(name, forms_of(record["ptx"]), functools.partial(test_programs.run, name))
    return out


def integers() -> Source:
    """Chains of integer instructions."""
    t = test_integer_recorded
    lanes = t.RECORDED["inputs"].shape[1]
    out = Source("integer chains", f"one to three integer, logic, comparison or video instructions on {lanes} lanes")
    given = t.inputs()
    shape = given["%w0"].shape

    def run(line: str, digest: int) -> None:
        registers = dict(given)
        for instruction in line.split(";"):
            conftest.execute(instruction, registers)
        results = [np.broadcast_to(registers[name], shape).astype("<u8") for name in t.destinations(line)]
        assert zlib.crc32(np.concatenate(results).tobytes()) == digest

    for line, digest in zip(t.LINES, t.RECORDED["digests"].tolist(), strict=True):
        forms = [named(instruction.strip().split(" ")[0]) for instruction in line.split(";")]
        out.case(line, forms, functools.partial(run, line, digest))
    return out


def floats() -> Source:
    """Float spellings and conversions."""
    t = test_float_recordings
    out = Source("float spellings", "a spelling of the float and conversion families on a table of special and random operands")
    results, at = t.RECORDED["results"], 0

    def run(spelling: str, operands: list[list[int]], expected: list[int], width: int) -> None:
        assert [n % (1 << 8 * width) for n in conftest.evaluate(spelling, *operands)] == expected

    for spelling, *inputs in t.FORMS:
        operands = [t.RECORDED[f"in_{key}"].tolist() for key in inputs]
        width, lanes = t.destination_bytes(spelling), len(operands[0])
        expected = results[at : at + width * lanes].view(f"u{width}").tolist()
        at += width * lanes
        out.case(spelling, [named(spelling)], functools.partial(run, spelling, operands, expected, width))
    return out


def tiles() -> Source:
    """Matrix instructions."""
    t = test_matrix_recorded
    out = Source("tiles", "a matrix instruction with the registers and memory of one warp")
    for kind, test in (("op", t.test_mma), ("wmma", t.test_wmma), ("wgmma", t.test_wgmma), ("move", t.test_moving_matrices)):
        for parameters in t.cases(kind):
            _by_test(out, str(parameters.id), test, *parameters.values)
    return out


def warps() -> Source:
    """Cross-lane instructions, memory operations and approximations."""
    out = Source("warps", "a cross-lane instruction on random warps and membermasks")
    for key in test_warp.RECORDED.files:
        if key.startswith(("some.", "all.", "mixed.", "members.")):
            _by_test(out, key, test_warp.test_as_recorded, key)
    return out


def memory_operations() -> Source:
    """Atomics, bulk reductions, mbarriers, cache policies."""
    t = test_memory_operations
    out = Source("memory operations", "an atomic, bulk reduction, mbarrier sequence or cache policy")
    for key in t.RECORDED.files:
        if key[:4] in ("f32.", "f64.") and not key.endswith("pairs"):
            _by_test(out, key, t.test_float_add, key)
        elif key.startswith("vector."):
            _by_test(out, key, t.test_vectors, key)
        elif key.startswith("reduce."):
            _by_test(out, key, t.test_bulk_reductions, key)
    _by_test(out, "mbarrier", t.test_mbarrier_as_recorded)
    _by_test(out, "policies", t.test_policies_as_recorded)
    return out


def tensor_copies() -> Source:
    """Tensor copies, through the driver."""
    t = test_recorded_tensor_copies
    out = Source("tensor copies", "a tensor map with a kernel that copies through it; or a call, a text or a launch that is refused")
    for number, case in enumerate(t.CASES):
        needed = forms_of([t.RECORDED["texts"][case["text"]]]) if case.get("launches") and "expect" not in case else ()
        out.case(case["name"], needed, functools.partial(t.compare, number))
    return out


def approximations() -> Source:
    """The special-function unit."""
    t = test_sfu
    out = Source("approximations", "an instruction of the special-function unit on a table of operands")
    runs: dict[str, Callable[[], object]] = {"tanh.approx.f32": t.test_tanh}
    for op in t.SINGLE:
        for ftz in (False, True):
            runs[f"{op}.approx{'.ftz' if ftz else ''}.f32"] = functools.partial(t.test_single, op, ftz)
    for op in ("approx", "full"):
        for ftz in (False, True):
            runs[f"div.{op}{'.ftz' if ftz else ''}.f32"] = functools.partial(t.test_div, op, ftz)
    for form in t.HALF:
        op, kind = form.split(".")
        for width in ("", "x2"):
            runs[f"{op}.approx{'.ftz' if form == 'ex2.bf16' else ''}.{kind}{width}"] = functools.partial(t.test_half, form, width)
    runs |= dict.fromkeys(("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"), t.test_double)
    for spelling, run in runs.items():
        assert spelling in t.RECORDED.files, spelling
        out.case(spelling, [named(spelling)], run)
    return out


def textures() -> Source:
    """What textures give."""
    t = test_textures_recorded
    out = Source("textures", "a fetch of 11 to 1024 lanes from a texture, in one geometry, format, filter and address mode")

    def run(case: dict[str, Any]) -> None:
        assert zlib.crc32(t.results(case).tobytes()) == case["crc"]

    for case in t.CASES:
        out.case(case["name"], [t.form(case)], functools.partial(run, case))
    return out


def surfaces() -> Source:
    """What surfaces give and keep, and what queries answer."""
    t, q = test_surfaces, test_queries
    out = Source("surfaces", "an access of 1 to 84 lanes to a surface, in one geometry, type and mode; or a query of one array")
    for case in t.CASES:
        out.case(case["name"], [named(case["name"])], functools.partial(t.test_recorded, conftest.bound, case))
    for query, row, cases, test in (
        ("suq", "suq.width.b32", q.SURFACES, q.test_recorded_extents_of_surfaces),
        ("txq", "txq.width.b32", q.TEXTURES, q.test_recorded_extents_of_textures),
        ("txq.level", "txq.level.width.b32", q.LEVELS, q.test_recorded_extents_of_levels),
        ("istypep", "istypep.texref", q.VARIABLES, q.test_recorded_kinds_of_variables),
    ):
        for case in cases:
            out.case(f"{query} {case[0]}", [named(row)], functools.partial(test, conftest.bound, *case))
    return out


@dataclass
class Verdicts:
    """How often the verifier agrees with ptxas 13.0 on mutated programs."""

    texts: int
    agreed: int
    legal: int


def verdicts() -> Verdicts:
    """Checks every mutant."""
    total = agreed = right = 0
    for text, arch, legal, _ in test_verify.mutants():
        errors = any(d.severity == "error" for d in check(text, arch, warnings=()))
        total, right, agreed = total + 1, right + legal, agreed + (errors != legal)
    return Verdicts(total, agreed, right)


@functools.cache
def h200() -> tuple[Source, ...]:
    """Every set of recordings, run."""
    return (
        modules(),
        forms(),
        programs(),
        integers(),
        floats(),
        tiles(),
        warps(),
        memory_operations(),
        tensor_copies(),
        approximations(),
        textures(),
        surfaces(),
    )


@functools.cache
def recorded() -> Counter[Row]:
    """How many recorded cases hold each row."""
    return sum((s.rows for s in h200()), Counter())


@functools.cache
def modelled() -> Counter[Row]:
    """How many tests against a model perform each row."""
    out: Counter[Row] = Counter()
    for key, tests in json.loads(MODEL.read_text(encoding="utf-8")).items():
        opcode, _, n = key.partition("#")
        if (opcode, int(n)) in rows():
            out[opcode, int(n)] = tests
    return out
