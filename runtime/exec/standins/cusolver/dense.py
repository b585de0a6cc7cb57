"""cuSOLVER's functions of dense matrices: factors, solutions, eigenvalues and singular values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....api.libraries import functions, spelled
from ...handlers.special import HandledCall
from ..algebra import LEFT, LOWER, C, N, T, factored, put_triangle, solution, solved, symmetric
from ..calls import work_in
from ..memory import CUDA_TYPES, I32, LETTERS, Array, NumberType, addresses, matrix, vector
from .handles import CUSOLVER, solver_of

I64 = NumberType(np.dtype("i8"), np.dtype("i8"))
MOST = {"uplo": 1, "side": 1, "trans": 2, "jobz": 1}  # the last value of each enumeration
Step = Callable[[HandledCall, NumberType, NumberType], Callable[[], int]]


def answers(*patterns: str) -> Callable[[Step], Step]:
    """Enters functions that check a call, and return the work: it gives what becomes *info.  They get the types of numbers and of pivots."""

    def enter(step: Step) -> Step:
        for name in (name for pattern in patterns for name in spelled(pattern)):
            _answer(name, step)
        return step

    return enter


def _answer(name: str, step: Step) -> None:
    letter = name.removeprefix("cusolverDn")[0]

    @CUSOLVER.answers(name)
    def answer(c: HandledCall) -> None:
        g, h = c.given, solver_of(c)
        for word, most in MOST.items():
            CUSOLVER.check(0 <= g.get(word, 0) <= most)
        CUSOLVER.check(all(g.get(word, 0) >= 0 for word in ("m", "n", "nrhs", "k")))
        kind = LETTERS.get(letter) or CUDA_TYPES.get(g.get("dataTypeA", -1))
        if kind is None:
            raise CUSOLVER.refuse(f"cudaDataType {g['dataTypeA']}")
        work = step(c, kind, I64 if letter == "X" else I32)

        def finished() -> None:
            info = work()
            if g["info"] and "batchSize" not in g:
                vector(g["info"], 1, 1, I32)[...] = info

        work_in(h.stream, finished)


def real_of(kind: NumberType) -> NumberType:
    """The type of the parts of complex numbers; that of others itself."""
    return {"c8": LETTERS["S"], "c16": LETTERS["D"]}.get(kind.stored.str[1:], kind)


def given_matrix(c: HandledCall, name: str, rows: int, columns: int, kind: NumberType) -> Array:
    """A matrix of a call."""
    return matrix(c.given[name], rows, columns, c.given[f"ld{name.lower()}"], kind)


def _sizes(name: str) -> None:
    @CUSOLVER.answers(name)
    def answer(c: HandledCall) -> None:
        solver_of(c)
        for result, kind, size in (("lwork", "i32", 1), ("onDevice", "u64", 8), ("onHost", "u64", 0)):
            if result in c.given:
                c.out(result, kind, size)


for _form in functions("cusolver"):
    if _form.name.endswith("_bufferSize") and _form.is_answered:
        _sizes(_form.name)


# ---------------------------------------------------------------- LU


@answers("cusolverDn[S D C Z X]getrf")
def getrf(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Factors, with pivots where there is room for them."""
    g = c.given
    CUSOLVER.check(g["lda"] >= max(g["m"], 1))

    def work() -> int:
        order, singular = factored(given_matrix(c, "A", g["m"], g["n"], kind), bool(g["ipiv"]))
        if g["ipiv"]:
            vector(g["ipiv"], len(order), 1, index)[...] = order
        return singular

    return work


@answers("cusolverDn[S D C Z X]getrs")
def getrs(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Solutions, in the place of the right sides."""
    g, n = c.given, c.given["n"]
    CUSOLVER.check(min(g["lda"], g["ldb"]) >= max(n, 1))

    def work() -> int:
        b = given_matrix(c, "B", n, g["nrhs"], kind)
        order = vector(g["ipiv"], n, 1, index, False) if g["ipiv"] else None
        b[...] = solution(given_matrix(c, "A", n, n, kind), order, b, g["trans"])
        return 0

    return work


# ---------------------------------------------------------------- Cholesky


def cholesky(a: Array, uplo: int) -> int:
    """Makes the factor in the triangle of a matrix; 0, or the order of the first minor that is not positive."""
    whole = symmetric(a, uplo, True)
    factor = np.zeros_like(whole)
    for k in range(len(whole)):
        rest = whole[k:, k] - factor[k:, :k] @ factor[k, :k].conj()
        if not rest[0].real > 0:
            return k + 1
        factor[k:, k] = rest / np.sqrt(rest[0].real)
    put_triangle(a, factor if uplo == LOWER else factor.conj().T, uplo)
    return 0


def behind_cholesky(a: Array, uplo: int, b: Array) -> Array:
    """X of A X = B, of the factor of A."""
    if uplo == LOWER:
        return solved(a, solved(a, b, uplo, N, False), uplo, C, False)
    return solved(a, solved(a, b, uplo, C, False), uplo, N, False)


@answers("cusolverDn[S D C Z X]potrf")
def potrf(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """The factor of a positive definite matrix."""
    g = c.given
    CUSOLVER.check(g["lda"] >= max(g["n"], 1))
    return lambda: cholesky(given_matrix(c, "A", g["n"], g["n"], kind), g["uplo"])


@answers("cusolverDn[S D C Z X]potrs")
def potrs(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Solutions, in the place of the right sides."""
    g, n = c.given, c.given["n"]
    CUSOLVER.check(min(g["lda"], g["ldb"]) >= max(n, 1))

    def work() -> int:
        b = given_matrix(c, "B", n, g["nrhs"], kind)
        b[...] = behind_cholesky(given_matrix(c, "A", n, n, kind), g["uplo"], b)
        return 0

    return work


@answers("cusolverDn[S D C Z]potri")
def potri(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """The inverse, of the factor."""
    g, n = c.given, c.given["n"]

    def work() -> int:
        a = given_matrix(c, "A", n, n, kind)
        put_triangle(a, behind_cholesky(a, g["uplo"], np.eye(n, dtype=kind.stored)), g["uplo"])
        return 0

    return work


@answers("cusolverDn[S D C Z]potrfBatched")
def potrf_batched(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Factors of many matrices."""
    g, n = c.given, c.given["n"]

    def work() -> int:
        for i, at in enumerate(addresses(g["A"], g["batchSize"])):
            vector(g["info"] + 4 * i, 1, 1, I32)[...] = cholesky(matrix(at, n, n, g["lda"], kind), g["uplo"])
        return 0

    return work


@answers("cusolverDn[S D C Z]potrsBatched")
def potrs_batched(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Solutions of many systems."""
    g, n = c.given, c.given["n"]

    def work() -> int:
        for a, b in zip(addresses(g["A"], g["batchSize"]), addresses(g["B"], g["batchSize"]), strict=True):
            right = matrix(b, n, g["nrhs"], g["ldb"], kind)
            right[...] = behind_cholesky(matrix(a, n, n, g["lda"], kind, False), g["uplo"], right)
        vector(g["info"], 1, 1, I32)[...] = 0
        return 0

    return work


# ---------------------------------------------------------------- QR


def reflected(a: Array, tau: Array, target: Array, conjugates: bool) -> Array:
    """Q C, or Q' C, for the Q whose reflectors stand below the diagonal of A."""
    out = target.copy()
    steps = range(len(tau)) if conjugates else range(len(tau) - 1, -1, -1)
    for k in steps:
        v = a[k:, k].copy()
        v[0] = 1
        factor = tau[k].conj() if conjugates else tau[k]
        out[k:] -= factor * np.outer(v, v.conj() @ out[k:])
    return out


@answers("cusolverDn[S D C Z]geqrf")
def geqrf(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """R, and below it the reflectors of Q."""
    g = c.given

    def work() -> int:
        a = given_matrix(c, "A", g["m"], g["n"], kind)
        raw, tau = np.linalg.qr(a, mode="raw")
        a[...] = raw.T
        vector(g["tau"], len(tau), 1, kind)[...] = tau
        return 0

    return work


@answers("cusolverDn[S D]orgqr", "cusolverDn[C Z]ungqr")
def orgqr(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """The columns of Q, in the place of its reflectors."""
    g = c.given

    def work() -> int:
        a = given_matrix(c, "A", g["m"], g["n"], kind)
        a[...] = reflected(a, vector(g["tau"], g["k"], 1, kind, False), np.eye(g["m"], g["n"], dtype=kind.stored), False)
        return 0

    return work


@answers("cusolverDn[S D]ormqr", "cusolverDn[C Z]unmqr")
def ormqr(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """op(Q) C, or C op(Q)."""
    g = c.given

    def work() -> int:
        left = g["side"] == LEFT
        a, tau = given_matrix(c, "A", g["m"] if left else g["n"], g["k"], kind), vector(g["tau"], g["k"], 1, kind, False)
        out = given_matrix(c, "C", g["m"], g["n"], kind)
        conjugates = g["trans"] in (T, C)
        # C op(Q) is the conjugate transpose of op(Q)' C'
        out[...] = reflected(a, tau, out, conjugates) if left else reflected(a, tau, out.conj().T, not conjugates).conj().T
        return 0

    return work


# ---------------------------------------------------------------- eigenvalues and singular values


@answers("cusolverDn[S D]syevd", "cusolverDn[C Z]heevd", "cusolverDnXsyevd", "cusolverDn[S D]syevj", "cusolverDn[C Z]heevj")
def syevd(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Eigenvalues, and if asked for eigenvectors, in the place of the matrix."""
    g, n = c.given, c.given["n"]
    CUSOLVER.check(g["lda"] >= max(n, 1))

    def work() -> int:
        a = given_matrix(c, "A", n, n, kind)
        values, vectors = np.linalg.eigh(symmetric(a, g["uplo"], True))
        vector(g["W"], n, 1, real_of(kind))[...] = values
        if g["jobz"]:
            a[...] = vectors
        return 0

    return work


def _singular(c: HandledCall, kind: NumberType, full: tuple[bool, bool], put: Callable[[Array, Array], None]) -> int:
    g = c.given
    a = given_matrix(c, "A", g["m"], g["n"], kind)
    u, s, v = np.linalg.svd(a, full_matrices=any(full))
    vector(g["S"], len(s), 1, real_of(kind))[...] = s
    put(u, v)
    return 0


@answers("cusolverDn[S D C Z]gesvd")
def gesvd(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """Singular values, and the vectors that the two letters ask for: all, so many as values, those in the place of the matrix, none."""
    g, m, n = c.given, c.given["m"], c.given["n"]
    jobs = [chr(g[name]) for name in ("jobu", "jobvt")]
    CUSOLVER.check(all(job in "ASON" for job in jobs) and jobs != ["O", "O"])
    few = min(m, n)

    def put(u: Array, v: Array) -> None:
        for job, name, found, rows, columns in (
            (jobs[0], "U", u, m, m if jobs[0] == "A" else few), (jobs[1], "VT", v, n if jobs[1] == "A" else few, n),
        ):  # fmt: skip
            if job in "AS":
                given_matrix(c, name, rows, columns, kind)[...] = found[:rows, :columns]
            elif job == "O":
                given_matrix(c, "A", m, n, kind)[:rows, :columns] = found[:rows, :columns]

    return lambda: _singular(c, kind, (jobs[0] == "A", jobs[1] == "A"), put)


@answers("cusolverDn[S D C Z]gesvdj")
def gesvdj(c: HandledCall, kind: NumberType, index: NumberType) -> Callable[[], int]:
    """The same; both kinds of vectors as columns, if asked for."""
    g, m, n = c.given, c.given["m"], c.given["n"]
    few = min(m, n)

    def put(u: Array, v: Array) -> None:
        if g["jobz"]:
            columns = (few, few) if g["econ"] else (m, n)
            given_matrix(c, "U", m, columns[0], kind)[...] = u[:, : columns[0]]
            given_matrix(c, "V", n, columns[1], kind)[...] = v.conj().T[:, : columns[1]]

    return lambda: _singular(c, kind, (not g["econ"], False), put)
