"""PTX text in, verified typed IR out, and back again: the public names of the assembler.

They are imported at once: some share their name with the module that holds them, which a lazy lookup would hand out instead.
"""

from .diagnostics import Diagnostic, PtxError
from .format import format_text
from .ir import Module
from .link import LinkError, Program, link
from .objects import ObjectError, ObjectFile, assemble, disassemble
from .parse import parse
from .verify import check

__all__ = [
    "Diagnostic",
    "LinkError",
    "Module",
    "ObjectError",
    "ObjectFile",
    "Program",
    "PtxError",
    "assemble",
    "check",
    "disassemble",
    "format_text",
    "link",
    "parse",
]  # fmt: skip
