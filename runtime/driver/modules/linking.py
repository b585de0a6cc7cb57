"""The driver's calls that link several inputs to an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...device.context import DeviceContext
from ...device.memory.host import host
from ...device.modules.loading import ProgramSource, link, linked_image, parsed, sources, strong_names, with_libraries
from ...device.modules.targets import check_targets
from ...errors import ApiError, unsupported
from ..api import api, current, forget, handle_of, integer, member, object_of, text
from ..tables.enums import CUjitInputType
from ..tables.structs import CUlinkState
from .modules import Logs, image_of, read_file

INPUTS = [CUjitInputType[f"CU_JIT_INPUT_{kind}"] for kind in ("PTX", "CUBIN", "OBJECT", "FATBINARY", "LIBRARY")]


@dataclass(eq=False)
class LinkState:
    """What is to be linked, for the device of a context."""

    logs: Logs
    context: DeviceContext
    inputs: list[ProgramSource] = field(default_factory=list)
    libraries: list[ProgramSource] = field(default_factory=list)
    image: int = 0  # where it stands in the program's memory, once it is linked

    def add(self, kind: object, data: bytes, name: str) -> None:
        """One more input."""
        which = member(CUjitInputType, kind)
        if which not in INPUTS:
            raise unsupported(f"inputs of the kind {which.name}")
        if which is CUjitInputType.CU_JIT_INPUT_LIBRARY:
            self.libraries += sources(data, self.context.architecture, name, self.context.rules_only)
            return
        if which is CUjitInputType.CU_JIT_INPUT_PTX:
            data = data.split(b"\0", 1)[0]
        try:
            for s in sources(data, self.context.architecture, name, self.context.rules_only):
                try:
                    module = parsed(s.data, s.name, compiled=s.chosen)
                    if not s.chosen and not self.context.rules_only:
                        check_targets(module, self.context.architecture)
                except ApiError as e:
                    unread = e.name == "CUDA_ERROR_INVALID_IMAGE" and which is not CUjitInputType.CU_JIT_INPUT_PTX
                    raise ApiError("CUDA_ERROR_NO_BINARY_FOR_GPU" if unread else e.name, e.message) from None
                self.inputs.append(s)
                self.clash()
        except ApiError as e:
            self.logs.write("ERROR", e.message)
            raise

    def clash(self) -> None:
        """Refuses inputs that define one name twice; what no input defines yet may come with a later one."""
        seen: dict[str, str] = {}
        for i in self.inputs:
            for name in strong_names(parsed(i.data, i.name)):
                if name in seen:
                    raise ApiError("CUDA_ERROR_INVALID_SOURCE", f"{name} is defined in {seen[name]} and in {i.name}")
                seen[name] = i.name


@api
def cuLinkCreate(numOptions: object, options: Sequence[Any] | None, optionValues: Sequence[Any] | None) -> CUlinkState:
    """Begins a link."""
    return CUlinkState(handle_of(LinkState(Logs(options, optionValues), current())))


@api
def cuLinkAddData(
    state: object, typename: object, data: object, size: object, name: object, numOptions: object,
    options: Sequence[Any] | None, optionValues: Sequence[Any] | None,
) -> None:  # fmt: skip
    """Adds an input from memory."""
    s = object_of(state, LinkState)
    s.add(typename, image_of(data, integer(size))[: integer(size)], text(name) if name else f"<input {len(s.inputs)}>")


@api
def cuLinkAddFile(
    state: object, typename: object, path: object, numOptions: object, options: Sequence[Any] | None, optionValues: Sequence[Any] | None
) -> None:
    """Adds a file."""
    object_of(state, LinkState).add(typename, read_file(path), text(path))


@api
def cuLinkComplete(state: object) -> tuple[int, int]:
    """(address, size) of the linked image."""
    s = object_of(state, LinkState)
    if s.image:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the link is complete already")
    try:
        s.inputs = with_libraries(s.inputs, s.libraries)
        s.clash()
        link([parsed(i.data, i.name) for i in s.inputs], "CUDA_ERROR_INVALID_SOURCE")
    except ApiError as e:
        s.logs.write("ERROR", e.message)
        raise
    image = linked_image(s.inputs, s.logs.options)
    s.image = host().keep(image)
    s.logs.write("INFO", f"{len(s.inputs)} inputs linked")
    return s.image, len(image)


@api
def cuLinkDestroy(state: object) -> None:
    """Ends a link."""
    forget(object_of(state, LinkState))
