"""The protocols through which a meaning (the function of a row) accesses the machine.  The interpreter implements them.

The first parameter of a meaning determines its kind:

    def add(a, b)                  pure: arrays in, arrays out, in any shapes that broadcast, without masks
    def ld(lanes, a, ...)          memory: `lanes` is a Lanes; arrays have the shape of the group that executes
    def shfl(warps, a, b, ...)     cross-lane: `warps` is a Warps; arrays have the shape (number of warps, 32)
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from .tensor_columns import TensorMemory
from .textures.footprints import TexelFootprint
from .textures.resources import Image, Surface, Texture
from .textures.surfaces import BytePlace

Array = NDArray[Any]
Addresses = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Shortcut = np.ufunc | Callable[..., Array]  # see Lanes.update


class NotYet(Exception):
    """Raised by a cross-lane meaning with .sync that cannot continue until other lanes have acted; it has changed nothing for these lanes."""

    def __init__(self, lanes: Mask, what: str) -> None:
        super().__init__(what)
        self.lanes = lanes  # the waiting lanes: (warps, 32)
        self.what = what  # what they wait for


class TensorCores(Protocol):
    """The resident CTAs, as tensor cores access them; each has a number."""

    def memory(self, cta: int) -> TensorMemory:
        """The tensor memory of a CTA."""

    def shared(self, cta: int) -> NDArray[np.uint8]:
        """The whole shared memory of a CTA."""

    def peer(self, cta: int) -> int | None:
        """The other CTA of the pair, whose rank in the cluster differs in the last bit; None if the cluster has none."""


class Lanes(Protocol):
    """The lanes that execute one instruction together, and the memory that they access.

    Spaces are the words of the manual: generic, global, shared, shared::cta, shared::cluster, local, const, param.
    Every access checks bounds and alignment for the active lanes only, and may end the launch with a Fault.
    """

    @property
    def active(self) -> Mask | None:
        """The mask of the lanes that execute; None if all lanes of the array do."""

    def only(self, lanes: Mask) -> AbstractContextManager[None]:
        """Restricts the operations inside the with statement to these lanes, as far as they are active."""

    def load(self, space: str, address: Addresses, type: str, count: int = 1) -> tuple[Array, ...]:
        """`count` consecutive elements of a type at each active lane's address, one array per element; zeros for inactive lanes."""

    def store(self, space: str, address: Addresses, type: str, values: Sequence[Array]) -> None:
        """Stores consecutive elements at each active lane's address; if several lanes store to one address, the highest lane wins."""

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
        """Atomically memory = change(memory, *operands), lane by lane in ascending order; returns the old value for each lane.

        `change` works elementwise on arrays of the type's dtype.  A `shortcut` serves many lanes on one address at once: a ufunc, if
        change(m, b) is exactly ufunc(m, b) on that dtype and associative, or a scan such as those of atomic_scans.py, whose result is verified.  With
        returns=False, the old values are not computed.
        """

    def special(self, name: str) -> Array:
        """A special register such as "%laneid" or "%tid.x"."""

    def convert(self, address: Array, space: str, to_generic: bool) -> Array:
        """cvta: converts an address of a space to a generic address, or back."""

    def space_of(self, address: Addresses, space: str) -> Mask:
        """isspacep: whether a generic address lies in the window of a space."""

    def replicas(self, address: Addresses, size: int) -> Sequence[tuple[Addresses, Mask]]:
        """The addresses on each device for an access of `size` bytes to a multimem address, device by device.

        Each comes with the mask of the active lanes whose multicast object includes that device.  Every access is checked.
        """

    def take_clusters(self) -> tuple[Array, ...]:
        """For each active lane, in ascending order, cancels a cluster that the launch has not started.

        Returns the x, y and z of the %ctaid of its first CTA, and 1; four zeros if no cluster was left.
        """

    def resources(self, handle: Array) -> Sequence[tuple[Texture | Surface | None, Mask | None]]:
        """The textures or surfaces of the active lanes' handles, each with the mask of the lanes that use it (None: all of the array).

        A null handle, and a variable without a binding, are None; any other invalid handle ends the launch with a Fault.
        """

    def texels_read(self, image: Image, texels: Sequence[TexelFootprint], shape: tuple[int, ...], lanes: Mask | None) -> None:
        """Announces the texels that lanes have read.  Their last axis is the lanes of `shape`, the lanes of `lanes`, or one element for all."""

    def surface_accessed(self, image: Image, kind: str, where: BytePlace, size: int, numbers: Array) -> None:
        """Announces that lanes, by their numbers in the group's flat order, load ("ld"), store ("st") or reduce ("red") `size` bytes each."""

    @property
    def tensor_cores(self) -> TensorCores:
        """Tensor memory, and shared memory as tensor cores access it; their accesses are not announced."""

    def ctas(self) -> Array:
        """The number of each lane's CTA there."""

    def is_variable(self, handle: Array, kind: str) -> Mask:
        """istypep: whether a handle is that of a module's variable of a kind."""

    def refuse(self, kind: str, text: str, lanes: Mask, space: str = "tensor") -> NoReturn:
        """Ends the launch with a Fault of a kind, caused by these lanes; the space applies to accesses out of bounds."""

    def mbarrier(self, what: str, space: str, address: Addresses, *amounts: Array) -> None:
        """Announces an operation on mbarrier objects to the observers, before it happens.

        `what` is "init" (expected arrivals), "inval", "change" (arrivals, dropped arrivals, bytes), "expect" (one more arrival ends the
        current phase), or "wait" (the lanes whose phase has completed).
        """

    def pause(self) -> None:
        """A hint that these lanes wait for others (nanosleep, a failed try_wait): the scheduler may run other lanes."""


class Rows(Lanes, Protocol):
    """Lanes as rows, with one column for each piece that a lane moves: arrays have the shape (count, columns)."""

    count: int

    def take(self, value: Array) -> Array:
        """The values of these lanes, of an operand of the meaning, in the shape (count, 1)."""

    def among(self, chosen: Mask | None, columns: int) -> "Rows":
        """Some of these rows (None: all), with another number of columns."""

    def holds(self, space: str, address: Addresses, size: int) -> Mask:
        """The lanes for which a store of `size` bytes would be legal."""

    def about(self, what: str) -> AbstractContextManager[None]:
        """Adds a description of the operation to faults inside the with statement."""

    def fault(self, kind: str, message: str, rows: Mask | None = None) -> NoReturn:
        """Ends the launch with a fault of some of these lanes (None: all)."""


class CopyingLanes(Lanes, Protocol):
    """Lanes that issue asynchronous copies, and wait for them.

    A copy completes when it is issued, except in launches with a schedule of their own: there it may complete as late as the memory
    model allows, at the wait that covers it, or at the end.
    """

    def rows(self) -> Rows:
        """The active lanes as rows, with one column."""

    def later(
        self,
        work: Callable[["CopyingLanes"], Callable[[], None] | None],
        *,
        group: str = "",
        barrier: tuple[str, Addresses] | None = None,
        after: str = "",
    ) -> None:
        """Calls work(lanes), now or later, possibly for some of these lanes at a time; it uses the current values of arrays.

        The work belongs to the group ("async", "bulk") that each lane commits next, or to the mbarrier that it signals, and follows
        everything that the lane has issued into the groups `after`.  If `work` returns a function, it has read the source, and the
        function writes the destination.
        """

    def close_group(self, group: str) -> None:
        """Commits the group: later copies of the lanes belong to their next group."""

    def wait_groups(self, group: str, most: int, *, read: bool = False) -> None:
        """The lanes wait until at most this number of their committed groups is pending; -1: until nothing is pending.

        With `read`, they wait until the other groups have read their sources.
        """

    def settle(self, space: str, address: Addresses) -> None:
        """The lanes test the mbarrier at this address: copies that signal it complete now, or at a later test."""


class Warps(Lanes, Protocol):
    """The same, laid out as (warps, 32); lanes that do not exist or do not execute are inactive."""

    @property
    def members(self) -> Mask:
        """(warps, 32): which lanes execute (never None)."""
