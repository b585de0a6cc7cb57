"""Does a lab tell right from wrong?  Its reference earns all points, each wrong submission loses some, and so does each mutant.

A mutant is the reference without one of its instructions.  One that earns all points shows what the tests do not look at, unless the
instruction is dead: the program means the same without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from warplab.assembler import LinkError, PtxError, parse
from warplab.assembler.flow import accesses, flow
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing
from warplab.interpreter.plan import dump
from warplab.interpreter.plan.roles import carries_pointer, only_computes

from ..errors import UsageError
from .lab import Lab, Submission, find_submissions, reference_of
from .supervise import Worker, grade_one

SECONDS = 5.0  # that a mutant may take, which often never ends


@dataclass(frozen=True, slots=True)
class Mutant:
    """A reference without one instruction."""

    file: str
    line: int
    instruction: str
    submission: Submission

    def is_dead(self, lab: Lab, reference: Submission) -> bool:
        """Does the program provably mean the same without the instruction?"""
        return _meanings(lab, self.file, reference) == _meanings(lab, self.file, self.submission)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.instruction}"


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What came of a lab's own submissions."""

    lab: str
    reference: str  # why the reference does not earn all points
    wrong: tuple[str, ...]  # wrong submissions that earn all points
    mutants: int
    kept: tuple[Mutant, ...]  # mutants that earn all points

    @property
    def passed(self) -> bool:
        """Do the tests tell right from wrong?"""
        return not (self.reference or self.wrong or self.kept)

    def __str__(self) -> str:
        lines = [f"{self.lab}: {self.mutants - len(self.kept)} of {self.mutants} mutants lose points"]
        if self.reference:
            lines.append(f"  the reference does not earn all points: {self.reference}")
        lines += [f"  wrong/{name} earns all points" for name in self.wrong]
        lines += [f"  without {m} all points are earned" for m in self.kept]
        return "\n".join(lines)


def selftest(lab: Lab, jobs: int = 1) -> SelfTest:
    """Grades the lab's reference, its wrong submissions and all mutants of the reference."""
    reference = reference_of(lab)
    if reference is None:
        raise UsageError(f"{lab.folder}: a self-test needs reference.ptx, or the folder reference where the lab has several files")
    wrong = find_submissions(lab, [lab.folder / "wrong"]) if (lab.folder / "wrong").is_dir() else []
    mutants = [*mutants_of(reference)]
    hurried = replace(lab, limits=replace(lab.limits, seconds=min(lab.limits.seconds, SECONDS), total=1e9))
    workers: list[Worker] = []

    def full(lab: Lab, submission: Submission, worker: Worker) -> bool:
        """Does it earn all points?  One test that fails is enough to know."""
        return all(grade_one(replace(lab, tests=(t,)), submission, worker).passed for t in lab.tests)

    def some(part: int) -> list[tuple[int, bool]]:
        worker = Worker()
        workers.append(worker)
        return [(n, full(hurried, mutants[n].submission, worker)) for n in range(part, len(mutants), jobs)]

    try:
        first = Worker()
        workers.append(first)
        report = grade_one(lab, reference, first)
        failed = [f"{t.name}: {t.message}" for t in report.tests if not t.passed]
        unnoticed = tuple(s.name for s in wrong if full(lab, s, first))
        with ThreadPoolExecutor(jobs) as pool:
            verdicts = dict(v for part in pool.map(some, range(jobs)) for v in part)
    finally:
        for worker in workers:
            worker.close()
    kept = tuple(m for n, m in enumerate(mutants) if verdicts[n] and not m.is_dead(lab, reference))
    return SelfTest(lab.folder.name, "; ".join(failed), unnoticed, len(mutants), kept)


def mutants_of(reference: Submission) -> Iterator[Mutant]:
    """A submission for each instruction of the reference that is missing in it."""
    for name, data in reference.files.items():
        text = data.decode()
        module = parse(text, name)
        for f in module.functions.values():
            if f.body is None:
                continue
            for i in listing(f).instructions:
                start, end = i.span.start, i.span.end
                files: Mapping[str, bytes] = {**reference.files, name: (text[:start] + text[end:]).encode()}
                words = " ".join(text[start:end].split())
                yield Mutant(name, i.span.line, words, Submission(f"{name}:{i.span.line}", files))


# ---------------------------------------------------------------- what a program means

_TEXT = re.compile(r"(?<=\S) {2,}\S.*$")  # the instruction beside what became of it
_COUNT = re.compile(r": \d+ instructions$")


def _meanings(lab: Lab, file: str, submission: Submission) -> list[list[str]]:
    """What a file of a submission means in each test that takes it, with the lab's modules."""
    tests = [t for t in lab.tests if (t.file or next(iter(submission.files))) == file]
    folders = {(*t.modules, *[m for spec in t.runs for m in spec.modules]) for t in tests}
    return [_meaning([submission.files[file], *((lab.folder / m).read_bytes() for m in names)]) for names in sorted(folders)]


def _meaning(texts: Sequence[bytes]) -> list[str]:
    """What is planned for a program, without what cannot matter: see _unread; and texts."""
    try:
        lines = dump.plan_of([parse(_without_unread(text.decode())) for text in texts]).splitlines()
    except (PtxError, LinkError):
        return [text.decode() for text in texts]
    return [_COUNT.sub("", _TEXT.sub("", line)) for line in lines]


def _without_unread(text: str) -> str:
    """A text without instructions that cannot matter."""
    while True:
        unread = [i for f in parse(text).functions.values() if f.body is not None for i in _unread(f)]
        if not unread:
            return text
        for i in sorted(unread, key=lambda i: -i.span.start):
            text = text[: i.span.start] + text[i.span.end :]


def _unread(function: Function) -> Iterator[Instruction]:
    """Instructions that only compute what nobody reads, or hand an address to the register that holds it."""
    f = flow(function)
    for block in f.reachable:
        for i, live in f.live_after(block):
            written = accesses(i)[1]
            unread = written and only_computes(i.form) and not any(live >> r.index & 1 for r in written)
            if unread or (len(i.operands) == 2 and i.operands[0] is i.operands[1] and carries_pointer(i)):  # mov or cvta.global of itself
                yield i
