"""Meanings of rows as functions of arrays: modifiers bound, optional operands named, signs of a fused product put in front."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa import sfu
from warplab.isa.notation import FORMS, resolve

from ...plan.plan import Meaning
from ...values import Array

Function = Callable[..., Any]


@functools.cache  # there are as many as shapes of instructions
def bound(meaning: Meaning) -> Function:
    """The meaning with all that is settled."""
    f: Function = meaning.form.bind(meaning.settled)
    if meaning.words:
        f = functools.partial(f, **dict(meaning.words))
    if meaning.named:
        f = _by_name(f, meaning.named, meaning.optional)
    if meaning.minus_product or meaning.minus_addend:
        f = _signed(f, meaning)
    if meaning.demoted:
        f = _demoted(f)
    return f


def _by_name(f: Function, names: Sequence[str], optional: Sequence[str]) -> Function:
    """Hands the optional operands that are there over by name, since one before them may be missing."""

    def call(*args: Any) -> Any:
        own = args[len(args) - len(names) :]
        first = list(args[: len(args) - len(names)])
        plain_args = [v for n, v in zip(names, own, strict=True) if n not in optional]
        named = {n: v for n, v in zip(names, own, strict=True) if n in optional}
        return f(*first, *plain_args, **named)

    return call


def _signed(f: Function, meaning: Meaning) -> Function:
    """A fused multiply-add with the signs that an fma does not have; a NaN of double precision keeps its own."""
    flip: Function = _turned
    if "f64" in meaning.settled:
        flip = next(form for form in FORMS["neg"] if form.match(("f64",)) is not None).bind({"f64": True})
    if not meaning.minus_addend:
        return lambda a, b, c: f(flip(a), b, c)
    if not meaning.minus_product:
        return lambda a, b, c: f(a, b, flip(c))
    return lambda a, b, c: f(flip(a), b, flip(c))


def _demoted(f: Function) -> Function:
    """The meaning in single precision, without subnormals: what is of double precision is rounded before and behind it, and keeps its form."""
    conversions = (resolve("cvt", words) for words in (("rn", "ftz", "f32", "f64"), ("ftz", "f64", "f32")))
    narrow, widen = (form.bind(settled) for form, settled in filter(None, conversions))

    def single(x: Any) -> Any:
        return widen(narrow(x)) if getattr(x, "dtype", None) == np.float64 else x

    def demoted(*operands: Any) -> Any:
        out = f(*map(single, operands))
        return tuple(map(single, out)) if isinstance(out, tuple) else single(out)

    return demoted


def _turned(x: Array) -> Array:
    """A float, or the bits of a bf16, with the other sign."""
    return -x if x.dtype.kind == "f" else x ^ x.dtype.type(0x8000)


def as_they_are(*operands: Array) -> tuple[Array, ...]:
    """What an instruction hands on: its operands."""
    return operands


@functools.cache
def dividend_and_reciprocal(meaning: Meaning) -> Function:
    """The factors of an approximate quotient."""
    full, ftz = bool(meaning.settled.get("full")), bool(meaning.settled.get("ftz"))

    def split(a: Array, b: Array) -> tuple[Array, Array]:
        size, one = np.abs(b), np.float32(1)
        scale = np.where(size > 2.0**126, np.float32(0.25), one) if full else one  # what is far from 1 is scaled first
        if not ftz:
            scale = np.where(size < 2.0**-126, np.float32(2.0**24), scale)
        return a * scale, sfu.rcp(b * scale, True)

    return split
