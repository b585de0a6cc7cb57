"""What the functions of all stand-ins do around their work: the code that they return, the stream that they work in, and what is said of them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from ...cudart.api import context
from ...device.graphs.pending import HOST
from ...device.graphs.streams import in_order
from ...device.memory.host import host
from ...driver.api import stream_of
from ...errors import ApiError
from ..handlers.special import HandledCall, handles
from ..wire import WireRequest

T = TypeVar("T")
Answer = Callable[[HandledCall], int | None]
_handles = itertools.count(0x40_0000_0000, 0x10)
_said: set[str] = set()


@dataclass(frozen=True)
class StandIn:
    """A library, and its codes."""

    title: str
    not_initialized: int
    invalid_value: int
    failed: int
    not_supported: int
    objects: dict[int, Any] = field(default_factory=dict)  # by their handles
    promise: str = "the same mathematics, not the same bits"

    def answers(self, *names: str) -> Callable[[Answer], Answer]:
        """Enters an answer to some functions."""

        def enter(work: Answer) -> Answer:
            @wraps(work)
            def answer(c: HandledCall) -> int:
                self.say(f"{self.title}: computed by warplab's stand-in: {self.promise}")
                try:
                    return work(c) or 0
                except StandInError as e:
                    return e.code
                except ApiError as e:
                    self.say(f"{self.title}: {e.message.splitlines()[0]}")
                    return self.failed

            handles(*names)(answer)
            return work

        return enter

    def refusal(self, name: str) -> Callable[[WireRequest], int]:
        """The answer to a function that the stand-in does not have."""
        return lambda request: self.refuse(name).code

    def say(self, text: str) -> None:
        """Says something once."""
        if text not in _said:
            _said.add(text)
            sys.stderr.write(f"warplab: {text}\n")

    def made(self, thing: object) -> int:
        """A handle for a new object."""
        number = next(_handles)
        self.objects[number] = thing
        return number

    def object(self, handle: int, kind: type[T]) -> T:
        """The object that a handle stands for."""
        found = self.objects.get(handle)
        if not isinstance(found, kind):
            raise StandInError(self.not_initialized)
        return found

    def check(self, condition: bool) -> None:
        """Refuses a call whose arguments are wrong."""
        if not condition:
            raise StandInError(self.invalid_value)

    def refuse(self, what: str) -> StandInError:
        """What the stand-in does not have."""
        self.say(f"{self.title}: the stand-in has no {what}; --no-stand-ins takes NVIDIA's library, which needs a GPU")
        return StandInError(self.not_supported)


class StandInError(Exception):
    """A call fails with a code of its library."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def work_in(stream: int, work: Callable[[], None]) -> None:
    """Does the work of a call in the order of its stream."""
    context()

    def quietly() -> None:
        with np.errstate(all="ignore"):
            work()

    in_order(stream_of(stream), HOST, quietly)


def wait_for_stream(stream: int) -> None:
    """A call gives a result to the host."""
    context().synchronize(stream_of(stream))


def read_host(address: int, dtype: np.dtype[Any], count: int = 1) -> np.ndarray[Any, Any]:
    """Numbers in the memory of the host."""
    return host().read(address, dtype.itemsize * count).view(dtype)
