"""What a meaning may ask of the machine.  The interpreter implements these; the rows in ops/ only know the Protocols.

A meaning's first parameter chooses its shape:

    def add(a, b)                  pure: arrays in, arrays out, any broadcastable shapes; never sees a mask
    def ld(lanes, a, ...)          memory: `lanes` is a Lanes; arrays have the shape of the group that executes
    def shfl(warps, a, b, ...)     cross-lane: `warps` is a Warps; arrays have the shape (number of warps, 32)
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from .tensor_columns import TensorMemory

Array = NDArray[Any]
Addresses = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Shortcut = np.ufunc | Callable[..., Array]  # see Lanes.update


class NotYet(Exception):
    """A cross-lane meaning with .sync cannot go on until other lanes have done something; for these lanes nothing has been changed."""

    def __init__(self, lanes: Mask, what: str) -> None:
        super().__init__(what)
        self.lanes = lanes  # those that wait: (warps, 32)
        self.what = what  # they wait for


class TensorCores(Protocol):
    """The CTAs that run together, as tensor cores see them; each has a number."""

    def memory(self, cta: int) -> TensorMemory:
        """The tensor memory of a CTA."""

    def shared(self, cta: int) -> NDArray[np.uint8]:
        """The shared memory of a CTA, all of it."""

    def peer(self, cta: int) -> int | None:
        """The other CTA of its pair, of whose ranks in the cluster the last bits differ; None where the cluster has none."""


class Lanes(Protocol):
    """The lanes that execute one instruction together, and the memory they see.

    Spaces are the words of the manual: generic, global, shared, shared::cta, shared::cluster, local, const, param.
    Every access checks bounds and alignment for the active lanes alone and may end the launch with a Fault.
    """

    @property
    def active(self) -> Mask | None:
        """Which lanes execute; None when all of the array do."""

    def only(self, lanes: Mask) -> AbstractContextManager[None]:
        """What is done within concerns these lanes alone, as far as they execute."""

    def load(self, space: str, address: Addresses, type: str, count: int = 1) -> tuple[Array, ...]:
        """`count` consecutive elements of a type at each active lane's address, one array an element; inactive lanes get zeros."""

    def store(self, space: str, address: Addresses, type: str, values: Sequence[Array]) -> None:
        """Stores consecutive elements at each active lane's address; of several lanes at one address the highest lane wins."""

    def update(
        self,
        space: str,
        address: Addresses,
        type: str,
        change: Callable[..., Array],
        operands: Sequence[Array],
        *,
        shortcut: Shortcut | None = None,
        returns: bool = True,
    ) -> Array:
        """Atomically memory = change(memory, *operands), lane after lane in ascending order; gives what each lane found there.

        `change` works elementwise on arrays of the type's dtype.  A `shortcut` lets many lanes on one address be served at once: a
        ufunc where change(m, b) is exactly ufunc(m, b) on that dtype and associative, or a scan of atomic_scans.py, which need not be
        right.  returns=False spares the old values.
        """

    def special(self, name: str) -> Array:
        """A special register such as "%laneid" or "%tid.x"."""

    def convert(self, address: Array, space: str, to_generic: bool) -> Array:
        """cvta: an address of a space as a generic address, or back."""

    def space_of(self, address: Addresses, space: str) -> Mask:
        """isspacep: does a generic address lie in the window of a space?"""

    def replicas(self, address: Addresses, size: int) -> Sequence[tuple[Addresses, Mask]]:
        """Where the memory of each device lies that an access of `size` bytes to a multimem address means, device after device.

        With each device's addresses come the active lanes whose multicast object has so many devices.  Every access is checked.
        """

    def take_clusters(self) -> tuple[Array, ...]:
        """For each active lane, in ascending order, a cluster that the launch has not started and now never starts.

        Gives the x, y and z of the %ctaid of its first CTA, and 1; four zeros where none was left.
        """

    @property
    def tensor_cores(self) -> TensorCores:
        """Tensor memory, and shared memory as tensor cores read it: what they access is not announced."""

    def ctas(self) -> Array:
        """The number of each lane's CTA there."""

    def refuse(self, kind: str, text: str, lanes: Mask) -> NoReturn:
        """Ends the launch with a Fault of a kind, which these lanes have caused."""

    def pause(self) -> None:
        """A hint that these lanes wait for others (nanosleep, a failed try_wait): the scheduler may run other lanes."""


class Warps(Lanes, Protocol):
    """The same, laid out as (warps, 32); lanes that do not exist or do not execute are inactive."""

    @property
    def members(self) -> Mask:
        """(warps, 32): which lanes execute (never None)."""
