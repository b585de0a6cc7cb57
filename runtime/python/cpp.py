"""ProgramOptions as words of NVRTC's command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Macro = str | tuple[str, str]
Several = str | tuple[str, ...] | list[str]

# option -> how NVRTC and nvcc spell it, with its value
_VALUES = {
    "std": "--std={}", "max_register_count": "--maxrregcount={}", "ftz": "--ftz={}", "prec_sqrt": "--prec-sqrt={}",
    "prec_div": "--prec-div={}", "fma": "--fmad={}", "relocatable_device_code": "--relocatable-device-code={}",
}  # fmt: skip
_FLAGS = {
    "debug": "--device-debug", "lineinfo": "--generate-line-info", "use_fast_math": "--use_fast_math", "restrict": "--restrict",
    "extra_device_vectorization": "--extra-device-vectorization",
}  # fmt: skip
_LISTS = {
    "define_macro": "--define-macro={}", "undefine_macro": "--undefine-macro={}", "include_path": "--include-path={}",
    "pre_include": "--pre-include={}", "diag_suppress": "--diag-suppress={}", "diag_error": "--diag-error={}", "diag_warn": "--diag-warn={}",
}  # fmt: skip


def words(options: object) -> Iterator[str]:
    """The words for the options that are set."""
    for name, form in _VALUES.items():
        value = getattr(options, name)
        if value is not None:
            yield form.format(str(value).lower() if isinstance(value, bool) else value)
    yield from (word for name, word in _FLAGS.items() if getattr(options, name))
    for name, form in _LISTS.items():
        yield from (form.format(text) for text in _each(getattr(options, name)))


def _each(given: Macro | Iterable[Macro] | int | None) -> Iterator[str]:
    """A value, several of them, or macros with their definitions."""
    match given:
        case None:
            return
        case str() | int():
            yield str(given)
        case (str(name), str(text)) if isinstance(given, tuple):
            yield f"{name}={text}"
        case _:
            for one in given:
                yield from _each(one)
