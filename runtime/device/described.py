"""Device models in words: a target, a device of one's own, or a TOML file that describes one, and the size of its memory.

sm_35    sm_90:4G    sm_20:1G,registers=16384,shared_memory=16K    my.toml
"""

from __future__ import annotations

from pathlib import Path

from warplab.isa.own_devices import device_profile, target_part, words_of

from ..errors import UsageError

TOML = ".toml"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def in_words(words: str, folder: Path | None = None) -> str:
    """The words of a TOML file, which is looked for here, then in the folder; other words as they are."""
    file, _, size = words.partition(":")
    if not file.endswith(TOML):
        return words
    import tomllib  # few devices are files, and each start would pay

    path = Path(file) if folder is None or Path(file).is_file() else folder / file
    try:
        said = words_of(tomllib.loads(path.read_text(encoding="utf-8")))
        device_profile(said)
    except OSError as e:
        raise UsageError(f"{path}: {e.strerror}") from None
    except ValueError as e:  # also what is wrong with the TOML, and bytes that are no text
        raise UsageError(f"{path}: {e}") from None
    target, comma, changes = said.partition(",")
    return f"{target}{':' if size else ''}{size}{comma}{changes}"


def model_of(words: str) -> tuple[str, int | None]:
    """("sm_90", bytes of memory) from "sm_90:4G"; None without a size.  Other figures stay behind the target."""
    target, comma, changes = in_words(words).partition(",")
    architecture, _, size = target.partition(":")
    model = f"{architecture.strip()}{comma}{changes}"
    try:
        device_profile(model)
    except ValueError as e:
        raise UsageError(str(e)) from None
    return model, bytes_of(size) if size else None


def target_of(words: str) -> str:
    """The target that a model's compiler compiles for."""
    return target_part(in_words(words))


def listed(words: str) -> list[str]:
    """The models of a list with commas: what holds a figure belongs to the model before.

    >>> listed("sm_90,sm_20,registers=16384,shared_memory=16K,sm_80:16G")
    ['sm_90', 'sm_20,registers=16384,shared_memory=16K', 'sm_80:16G']
    """
    out: list[str] = []
    for word in map(str.strip, words.split(",")):
        if "=" in word and out:
            out[-1] += f",{word}"
        else:
            out.append(word)
    return out


def bytes_of(words: str) -> int:
    unit = words[-1].upper() if words and not words[-1].isdigit() else ""
    try:
        size = int(words.removesuffix(words[-1]) if unit else words) * UNITS[unit]
    except (ValueError, KeyError):
        size = 0
    if size <= 0:
        raise UsageError(f"{words!r} is not a size: write 4G or 512M")
    return size
