"""The checkers that a run asks for, as its options say."""

from __future__ import annotations

from pathlib import Path

from warplab.interpreter.checkers.suppressions import BadSuppression, Suppression, read_suppressions

from ..device.launches.filtering import LaunchFilter
from ..device.launches.sanitizing import Sanitizer
from ..errors import UsageError
from .runspec import RunSpec


def sanitizer_of(tools: str, spec: RunSpec, folder: Path | None) -> Sanitizer:
    """The checkers that a run asks for; files of suppressions stand beside it, or where their names say."""
    chosen = LaunchFilter(spec.kernel_regex, spec.kernel_regex_exclude, spec.launch_skip, spec.launch_count)
    leaks = spec.leak_check == "full" if spec.leak_check else None
    known = [s for name in spec.suppressions for s in suppressions_in(name, folder)]
    in_order = len({step.stream for step in spec.launches}) < 2
    return Sanitizer(tools, strict=spec.strict, goes_on=spec.goes_on, leaks=leaks, launches=chosen, suppressions=known, in_order=in_order)


def suppressions_in(name: str, folder: Path | None) -> list[Suppression]:
    """What a file suppresses."""
    path = Path(name) if Path(name).exists() else (folder or Path()) / name
    try:
        return read_suppressions(path.read_text(encoding="utf-8"), name)
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"--suppressions {name}: {getattr(e, 'strerror', None) or 'the file is no UTF-8 text'}") from None
    except BadSuppression as e:
        raise UsageError(f"--suppressions {e}") from None
