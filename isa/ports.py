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
from .textures.footprints import TexelFootprint
from .textures.resources import Image, Surface, Texture
from .textures.surfaces import BytePlace

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

    def resources(self, handle: Array) -> Sequence[tuple[Texture | Surface | None, Mask | None]]:
        """What the handles of the active lanes stand for, one after the other, each with the lanes that use it (None: all of the array).

        A null handle and a variable that nothing is bound to are None; all else that cannot be read ends the launch with a Fault.
        """

    def texels_read(self, image: Image, texels: Sequence[TexelFootprint], shape: tuple[int, ...], lanes: Mask | None) -> None:
        """Announces the texels that lanes have read, whose last axis is the lanes of `shape`, or those of `lanes`, or one for all of them."""

    def surface_accessed(self, image: Image, kind: str, where: BytePlace, size: int, numbers: Array) -> None:
        """Announces that lanes, by their numbers in the group's flat order, load ("ld"), store ("st") or reduce ("red") `size` bytes each."""

    @property
    def tensor_cores(self) -> TensorCores:
        """Tensor memory, and shared memory as tensor cores read it: what they access is not announced."""

    def ctas(self) -> Array:
        """The number of each lane's CTA there."""

    def is_variable(self, handle: Array, kind: str) -> Mask:
        """istypep: is a handle that of a module's variable of a kind?"""

    def refuse(self, kind: str, text: str, lanes: Mask, space: str = "tensor") -> NoReturn:
        """Ends the launch with a Fault of a kind, which these lanes have caused; the space is one of an access out of bounds."""

    def mbarrier(self, what: str, space: str, address: Addresses, *amounts: Array) -> None:
        """Says that what comes next concerns mbarrier objects, to whoever observes them.

        `what` is "init" (expected arrivals), "inval", "change" (arrivals, arrivals dropped, bytes), or "wait" (which lanes' phase is over).
        """

    def pause(self) -> None:
        """A hint that these lanes wait for others (nanosleep, a failed try_wait): the scheduler may run other lanes."""


class Rows(Lanes, Protocol):
    """Lanes one below the other, with a column for each of the pieces that a lane moves: arrays have the shape (count, columns)."""

    count: int

    def take(self, value: Array) -> Array:
        """(count, 1): the values of these lanes, of an array that the meaning was given."""

    def among(self, chosen: Mask | None, columns: int) -> "Rows":
        """Some of these rows (None: all), with another number of columns."""

    def holds(self, space: str, address: Addresses, size: int) -> Mask:
        """Where a store of `size` bytes would be legal."""

    def about(self, what: str) -> AbstractContextManager[None]:
        """A fault within says what is being done, too."""

    def fault(self, kind: str, message: str, rows: Mask | None = None) -> NoReturn:
        """Ends the launch: some of these lanes (None: all) did what the machine refuses."""


class CopyingLanes(Lanes, Protocol):
    """Lanes that issue asynchronous copies: what they do later, and when they wait for it.

    A copy is complete when it is issued, but for launches with a schedule of their own, where it may come as late as the memory model
    allows: with the wait that covers it, or at the end.
    """

    def rows(self) -> Rows:
        """The lanes that execute, one below the other, with one column."""

    def later(
        self,
        work: Callable[["CopyingLanes"], Callable[[], None] | None],
        *,
        group: str = "",
        barrier: tuple[str, Addresses] | None = None,
        after: str = "",
    ) -> None:
        """Calls work(lanes), now or later, then perhaps for a few of these lanes at a time; its arrays are those of now.

        It belongs to the group ("async", "bulk") that each lane closes next, or to the mbarrier that it tells; and it comes after
        all that the lane has issued into the groups called `after`.  Where it gives a function, it has read what it copies, and the
        function writes.
        """

    def close_group(self, group: str) -> None:
        """What the lanes issue from now on belongs to their next group."""

    def wait_groups(self, group: str, most: int, *, read: bool = False) -> None:
        """The lanes go on when at most so many of their closed groups are under way; -1: nothing at all is.

        With `read` they go on when the others have read what they copy.
        """

    def settle(self, space: str, address: Addresses) -> None:
        """The lanes look at the mbarrier there: what tells it comes now at the latest."""


class Warps(Lanes, Protocol):
    """The same, laid out as (warps, 32); lanes that do not exist or do not execute are inactive."""

    @property
    def members(self) -> Mask:
        """(warps, 32): which lanes execute (never None)."""
