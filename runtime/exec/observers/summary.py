"""What a program has launched, and how each launch ended: as JUnit's XML, and in one line."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as XML

from warplab.assembler.demangle import short_name
from warplab.interpreter.checkers.findings import Finding, as_text
from warplab.interpreter.faults import ExecutionError

from ...reports.drawn.xml import xml_text

if TYPE_CHECKING:
    from ...device.context import DeviceContext
    from ...device.modules.kernels import KernelHandle, LaunchShape


@dataclass(frozen=True, slots=True)
class EndedLaunch:
    """A launch, and what ended it before its time."""

    kernel: str
    shape: str
    seconds: float
    fault: str = ""


class LaunchSummary:
    """The launches of one served process."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.launches: list[EndedLaunch] = []

    @contextmanager
    def launch(self, context: DeviceContext, kernel: KernelHandle, shape: LaunchShape, parameters: bytes) -> Iterator[None]:
        """One launch."""
        begun, fault = time.perf_counter(), ""
        try:
            yield
        except ExecutionError as e:
            fault = str(e)
            raise
        finally:
            text = f"<<<{', '.join(map(str, shape.grid))} | {', '.join(map(str, shape.block))}>>>"
            self.launches.append(EndedLaunch(short_name(kernel.name), text, time.perf_counter() - begun, fault))

    def finish(self, findings: Sequence[Finding]) -> None:
        """Writes the report, and says how many launches and findings there were."""
        faults = sum(bool(x.fault) for x in self.launches)
        errors = [f for f in findings if f.severity == "error"]
        suite = XML.Element(
            "testsuite", name="warplab exec", tests=str(len(self.launches) + len(errors)), failures=str(faults + len(errors)),
            time=f"{sum(x.seconds for x in self.launches):.3f}",
        )  # fmt: skip
        for n, x in enumerate(self.launches, 1):
            case = XML.SubElement(suite, "testcase", classname=xml_text(x.kernel), name=f"launch {n} {x.shape}", time=f"{x.seconds:.3f}")
            if x.fault:
                XML.SubElement(case, "failure", message=xml_text(x.fault.partition("\n")[0])).text = xml_text(x.fault)
        for f in errors:
            case = XML.SubElement(
                suite, "testcase", classname=xml_text(f"{f.tool} {short_name(f.kernel)}"), name=f"{f.kind} at line {f.line}"
            )
            XML.SubElement(case, "failure", message=xml_text(f.message)).text = xml_text(as_text([f]))
        with open(self.path, "wb") as file:
            XML.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)
        kernels = len({x.kernel for x in self.launches})
        sys.stderr.write(
            f"warplab: {_count(len(self.launches), 'launch', 'launches')} of {_count(kernels, 'kernel', 'kernels')}, "
            f"{_count(faults, 'fault', 'faults')}, {_count(len(errors), 'finding', 'findings')}\n"
        )


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
