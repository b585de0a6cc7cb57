"""The arguments of a request, read by their names and types: what has another type is refused in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import UsageError

REQUIRED: Any = object()


class RequestArguments:
    """An object of a message."""

    def __init__(self, values: object, what: str = "arguments") -> None:
        if not isinstance(values, dict):
            raise UsageError(f"{what} must be an object")
        self.values: dict[str, Any] = values

    def _read(self, name: str, kind: type | tuple[type, ...], says: str, default: Any) -> Any:
        value = self.values.get(name)
        if value is None:
            if default is REQUIRED:
                raise UsageError(f"`{name}` is missing: {says} is expected")
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise UsageError(f"`{name}` must be {says}")
        return value

    def text(self, name: str, default: Any = REQUIRED) -> str:
        """A string."""
        out: str = self._read(name, str, "a string", default)
        return out

    def whole(self, name: str, default: Any = REQUIRED) -> int:
        """An integer; some clients write 3.0."""
        value = self._read(name, (int, float), "a number", default)
        try:
            return int(value)
        except (ValueError, OverflowError):
            raise UsageError(f"`{name}` must be an integer") from None

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        out: bool = self._read(name, bool, "true or false", default)
        return out

    def words(self, name: str) -> list[str]:
        """Strings, or one that is split as a shell splits it."""
        import shlex

        value = self._read(name, (str, list), "a string or a list of strings", [])
        if isinstance(value, str):
            try:
                return shlex.split(value)
            except ValueError as e:
                raise UsageError(f"`{name}`: {e}") from None
        if not all(isinstance(v, str) for v in value):
            raise UsageError(f"`{name}` must be a list of strings")
        out: list[str] = value
        return out

    def inner(self, name: str) -> RequestArguments:
        """An object; an empty one where there is none."""
        return RequestArguments(self._read(name, dict, "an object", {}), f"`{name}`")

    def each(self, name: str) -> Iterator[RequestArguments]:
        """The objects of a list."""
        for value in self._read(name, list, "a list", []):
            yield RequestArguments(value, f"each of `{name}`")
