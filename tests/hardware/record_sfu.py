"""Runs the approximate instructions on a GPU: compares them with warplab.isa.sfu and records a selection of results.

    python3 record_sfu.py FOLDER [SECONDS]    wants cupy and a GPU; writes FOLDER/sfu.npz

First every form runs over the selection, which is recorded with its results. Then, for SECONDS (0: not at all), worker
processes compare: the half forms over all arguments, the two-operand and float64 forms over random ones, and the float32
forms over all 2**32 arguments in pieces of 2**24, as many as the time allows.
"""

import importlib.util
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ROOT = Path(__file__).resolve().parents[2]
PIECE = 1 << 24
BLOCK = 1 << 16


def model() -> Any:
    """The package under test, loaded by path: it needs nothing else of the project."""
    if "sfu" not in sys.modules:
        folder = ROOT / "isa" / "sfu"
        spec = importlib.util.spec_from_file_location("sfu", folder / "__init__.py", submodule_search_locations=[str(folder)])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["sfu"] = module
        spec.loader.exec_module(module)
    return sys.modules["sfu"]


class Form(NamedTuple):
    """An instruction: its name, the bits of an operand, how many operands, and the model of it on patterns."""

    name: str
    bits: int
    operands: int
    expected: Callable[..., Array]


def single(name: str, *arguments: bool) -> Callable[..., Array]:
    """The model of a float32 form on uint32 patterns."""
    return lambda *x: getattr(model(), name)(*(a.view(np.float32) for a in x), *arguments).view(np.uint32)


def double(name: str, *arguments: bool) -> Callable[..., Array]:
    """The model of a float64 form on uint64 patterns."""
    return lambda x: getattr(model(), name)(x.view(np.float64), *arguments).view(np.uint64)


def half(name: str) -> Callable[..., Array]:
    """The model of a half form on uint16 patterns, or pairs of them in uint32."""
    return lambda x: getattr(model(), name)(x.view(np.uint16)).view(x.dtype)


def forms() -> list[Form]:
    """Every form there is."""
    found = []
    for op in ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"):
        found += [Form(f"{op}.approx.f32", 32, 1, single(op, False)), Form(f"{op}.approx.ftz.f32", 32, 1, single(op, True))]
    found.append(Form("tanh.approx.f32", 32, 1, single("tanh")))
    for op in ("approx", "full"):
        found.append(Form(f"div.{op}.f32", 32, 2, single(f"div_{op}", False)))
        found.append(Form(f"div.{op}.ftz.f32", 32, 2, single(f"div_{op}", True)))
    found.append(Form("rcp.approx.ftz.f64", 64, 1, double("rcp64h")))
    found.append(Form("rsqrt.approx.ftz.f64", 64, 1, double("rsqrt64h", True)))
    found.append(Form("rsqrt.approx.f64", 64, 1, double("rsqrt64h", False)))
    for wide, bits in (("", 16), ("x2", 32)):
        found.append(Form(f"tanh.approx.f16{wide}", bits, 1, half("tanh_f16")))
        found.append(Form(f"tanh.approx.bf16{wide}", bits, 1, half("tanh_bf16")))
        found.append(Form(f"ex2.approx.f16{wide}", bits, 1, half("ex2_f16")))
        found.append(Form(f"ex2.approx.ftz.bf16{wide}", bits, 1, half("ex2_bf16")))
    return found


FORMS = {f.name: f for f in forms()}


class Gpu:
    """Compiles forms, once each, and runs them."""

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found]

        self.cupy: Any = cupy
        self.kernels: dict[str, Any] = {}

    def kernel(self, form: Form) -> Any:
        """A kernel that applies the form to each element."""
        if form.name not in self.kernels:
            b, size = form.bits, form.bits // 8
            names = "xy"[: form.operands]
            loads = "".join(f"ld.param.u64 %p, [{v}]; add.u64 %p, %p, %offset; ld.global.b{b} %{v}, [%p];\n" for v in names)
            ptx = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry test({"".join(f".param .u64 {v}, " for v in names)}.param .u64 z, .param .u32 n)
{{
.reg .b{b} %x, %y, %z; .reg .b64 %p, %offset; .reg .b32 %i, %j, %k, %n; .reg .pred %q;
mov.u32 %i, %ctaid.x; mov.u32 %j, %ntid.x; mov.u32 %k, %tid.x; mad.lo.u32 %i, %i, %j, %k;
ld.param.u32 %n, [n]; setp.ge.u32 %q, %i, %n; @%q ret;
mul.wide.u32 %offset, %i, {size};
{loads}{form.name} %z, {", ".join("%" + v for v in names)};
ld.param.u64 %p, [z]; add.u64 %p, %p, %offset; st.global.b{b} [%p], %z;
ret;
}}
"""
            with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
                f.write(ptx)
                f.flush()
                module = self.cupy.RawModule(path=f.name)
                self.kernels[form.name] = module.get_function("test")
        return self.kernels[form.name]

    def run(self, form: Form, arguments: list[Array]) -> Array:
        """The form's results."""
        n = len(arguments[0])
        inputs = [self.cupy.asarray(a) for a in arguments]
        out = self.cupy.empty_like(inputs[0])
        self.kernel(form)(((n + 255) // 256,), (256,), (*inputs, out, np.uint32(n)))
        result: Array = out.get()
        return result


def random_patterns(rng: np.random.Generator, bits: int, n: int) -> Array:
    """Patterns of floats: half of them at random, half near the ends of the exponents, with long runs of equal bits."""
    kind: Any = {16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    fraction = {16: 10, 32: 23, 64: 52}[bits]
    x = rng.integers(0, 1 << bits, n, dtype=np.uint64)
    top = 1 << (bits - 1 - fraction)
    special = np.array([0, 1, 2, 3, top // 2 - 1, top // 2, top - 5, top - 4, top - 3, top - 2, top - 1], dtype=np.uint64)
    exponent = rng.choice(special, n)
    runs = np.uint64((1 << fraction) - 1) >> rng.integers(0, fraction + 1, n, dtype=np.uint64)
    mantissa = np.where(rng.integers(0, 2, n) == 0, runs, x & np.uint64((1 << fraction) - 1))
    edge = (x & np.uint64(1 << (bits - 1))) | (exponent << np.uint64(fraction)) | mantissa
    return np.where(rng.integers(0, 2, n) == 0, x, edge).astype(kind)


def selection(form: Form) -> list[Array]:
    """The arguments whose results are recorded: the same for all forms of a shape."""
    rng = np.random.default_rng(form.bits * 2 + form.operands)
    if form.bits == 32 and form.operands == 1 and not form.name.endswith("x2"):
        step = np.uint32(1 << 17)  # borders of segments: both sides of every sixteenth of 1..4, wherever an operation has them
        borders = np.uint32(0x3F800000) + step * np.arange(0, 128, 5, dtype=np.uint32)
        powers = np.arange(1, 255, 3, dtype=np.uint32) << np.uint32(23)
        near = np.concatenate([borders, borders - np.uint32(1), powers, powers | np.uint32(0x80000000), powers - np.uint32(1)])
        usual = rng.uniform(-20, 20, 400).astype(np.float32).view(np.uint32)
        return [np.concatenate([near, usual, random_patterns(rng, 32, 400)])]
    return [random_patterns(rng, form.bits, 600) for _ in range(form.operands)]


def arguments(form: Form, piece: int) -> list[Array]:
    """A piece of the arguments to compare."""
    if form.bits == 16:
        return [np.arange(1 << 16, dtype=np.uint16)]
    if form.bits == 32 and form.operands == 1 and not form.name.endswith("x2"):
        return [np.arange(piece * PIECE, (piece + 1) * PIECE, dtype=np.uint32)]
    rng = np.random.default_rng(1000 + piece)
    return [random_patterns(rng, form.bits, 1 << 20) for _ in range(form.operands)]


class Outcome(NamedTuple):
    """What a comparison found."""

    name: str
    compared: int
    different: int
    examples: list[str]


_worker: list[Gpu] = []


def compare(task: tuple[str, int]) -> Outcome:
    """Compares one piece of one form."""
    if not _worker:
        _worker.append(Gpu())
    form = FORMS[task[0]]
    x = arguments(form, task[1])
    got = _worker[0].run(form, x)
    different, examples = 0, []
    for start in range(0, len(got), BLOCK):
        part = [a[start : start + BLOCK] for a in x]
        expected = form.expected(*part)
        wrong = np.flatnonzero(expected != got[start : start + BLOCK])
        different += len(wrong)
        for i in wrong[:3]:
            operands = " ".join(f"{a[i]:#x}" for a in part)
            examples.append(f"{operands}: gpu {got[start + i]:#x} model {expected[i]:#x}")
    return Outcome(form.name, len(got), different, examples[:12])


def tasks() -> Iterator[tuple[str, int]]:
    """Pieces in the order of their worth: the short ones, then all of float32, far-apart pieces first."""
    whole = [f.name for f in FORMS.values() if f.bits == 32 and f.operands == 1 and not f.name.endswith("x2")]
    for form in FORMS.values():
        if form.name not in whole:
            yield from ((form.name, piece) for piece in range(1 if form.bits == 16 else 16))
    for piece in range(256):
        yield from ((name, piece * 101 % 256) for name in whole)


def main() -> None:
    """Records, then compares."""
    folder = Path(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    begin = time.monotonic()
    gpu = Gpu()
    recorded: dict[str, Array] = {}
    for form in FORMS.values():
        x = selection(form)
        y = gpu.run(form, x)
        shape = f"{form.bits}x2" if form.name.endswith("x2") else f"{form.bits}"
        for k, a in enumerate(x):
            recorded[f"in{shape}.{form.operands}.{k}"] = a
        recorded[form.name] = y
        print(form.name, len(y), "recorded,", int((form.expected(*x) != y).sum()), "differ from the model", flush=True)
    np.savez_compressed(folder / "sfu.npz", **recorded)  # type: ignore[arg-type]
    print(f"{(folder / 'sfu.npz').stat().st_size} bytes, {time.monotonic() - begin:.1f} s", flush=True)
    if not seconds:
        return
    totals: dict[str, list[int]] = {name: [0, 0] for name in FORMS}
    shown: dict[str, list[str]] = {name: [] for name in FORMS}
    with multiprocessing.get_context("spawn").Pool() as pool:
        for outcome in pool.imap_unordered(compare, tasks()):
            totals[outcome.name][0] += outcome.compared
            totals[outcome.name][1] += outcome.different
            shown[outcome.name] += outcome.examples
            if time.monotonic() - begin > seconds:
                break
        pool.terminate()
    for name, (count, different) in totals.items():
        print(f"{name:24s} {count:11d} compared, {different} differ", *shown[name][:8], sep="\n    " if different else "")
    print(f"{time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
