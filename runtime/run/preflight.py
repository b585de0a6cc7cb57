"""What of a run can be refused before it is launched: results that it asks for by a wrong name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from ..errors import UsageError
from .expect import check_names
from .inputs.png import picture
from .inputs.values import as_numbers
from .runspec import RunSpec


class Drawn(Protocol):
    """A buffer, of which a picture may be made."""

    type: str
    before: NDArray[Any]


def check_outputs(spec: RunSpec, buffers: Mapping[str, Drawn], variables: Iterable[str]) -> None:
    """Refuses --expect, --print and --dump with a name that is neither a buffer nor a variable."""
    arrays = list(buffers)
    known = [*arrays, *variables]
    for text in spec.expect:
        name, _, file = text.partition("=@")
        if not file or name.strip() not in known:
            check_names(text, "--expect", known)
    for text in spec.show:
        check_names(text, "--print", known)
    for text in spec.dump:
        name, path = dumped(text)
        if name not in arrays or path.suffix not in (".npy", ".png"):
            raise UsageError(f"--dump {text!r}: write NAME=FILE.npy or NAME=FILE.png; the buffers are {' '.join(arrays) or 'none'}")
        if not path.parent.is_dir():
            raise UsageError(f"--dump {text!r}: there is no folder {path.parent}")
        if path.suffix == ".png":
            picture(as_numbers(buffers[name].before, buffers[name].type), name)


def dumped(text: str) -> tuple[str, Path]:
    """The buffer and the file of a --dump."""
    name, equals, file = text.partition("=")
    path = Path(file if equals else text)
    return name if equals else path.stem, path
