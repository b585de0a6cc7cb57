"""The launch of a real program that a debugger is to open: the first one that ends early, or the one that is named; else the last one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warplab.assembler.demangle import matching
from warplab.interpreter.faults import ExecutionError

from ...errors import UsageError
from ...recording.recordings import recording

if TYPE_CHECKING:
    from ...device.context import DeviceContext
    from ...device.modules.kernels import KernelHandle, LaunchShape
    from ...recording.questions import Recording


@dataclass(frozen=True, slots=True)
class ChosenLaunch:
    """Which launch of a program is meant: `3`, `saxpy`, or `saxpy:3`, the third one of this kernel."""

    kernel: str = ""
    number: int | None = None

    @staticmethod
    def of(text: str) -> ChosenLaunch:
        """As a person writes it."""
        m = re.fullmatch(r"(?:(.*[^:]):)?([1-9]\d{0,8})", text)
        if m is not None:
            return ChosenLaunch(m[1] or "", int(m[2]))
        if text[:1].isdigit():
            raise UsageError(f"--launch {text}: a number from 1 on, a kernel, or KERNEL:NUMBER is expected")
        return ChosenLaunch(text)


class KeptLaunch:
    """Records the launches of one served process; only one of them is kept, in a file."""

    def __init__(self, folder: str, pid: int, chosen: ChosenLaunch | None) -> None:
        self.path = Path(folder) / f"{pid}.wlrec"
        self.chosen = chosen
        self.count = 0  # launches until now; of the kernel that is named, where one is
        self.is_kept = False
        self.last: Recording | None = None

    def _is_candidate(self, kernel: str) -> bool:
        if self.chosen is not None and self.chosen.kernel and not matching([kernel], self.chosen.kernel):
            return False
        self.count += 1
        return not self.is_kept and (self.chosen is None or self.count == (self.chosen.number or 1))

    @contextmanager
    def launch(self, context: DeviceContext, kernel: KernelHandle, shape: LaunchShape, parameters: bytes) -> Iterator[None]:
        """Watches one launch."""
        if not self._is_candidate(kernel.name):
            yield
            return
        with recording() as made:
            try:
                yield
            except ExecutionError:
                self._keep(made.launches[0])
                raise
        self.last = made.launches[0]
        if self.chosen is not None:
            self._keep(self.last)

    def _keep(self, made: Recording) -> None:
        if made.step_count:
            self.is_kept, self.last = True, None
            made.save(self.path)

    def finish(self) -> None:
        """The program has ended: the last launch is kept where no other one is."""
        if self.last is not None and not self.is_kept and self.chosen is None:
            self._keep(self.last)
            sys.stderr.write(f"warplab: no launch failed; the last one of {self.count} is kept, --launch chooses another\n")


def kept_in(folder: str) -> list[Path]:
    """The files of all processes of a program, the latest first."""
    return sorted(Path(folder).glob("*.wlrec"), key=lambda p: p.stat().st_mtime_ns, reverse=True)
