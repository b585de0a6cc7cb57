"""Relocatable object files: written, read, and taken apart again."""

from .elf import ObjectError
from .objectfile import ObjectFile, assemble, disassemble, load, read_object, write_object

__all__ = ["ObjectError", "ObjectFile", "assemble", "disassemble", "load", "read_object", "write_object"]
