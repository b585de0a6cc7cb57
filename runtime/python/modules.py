"""ObjectCode, as in cuda.core."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from .. import driver
from .calls import Given, do
from .kernels import Kernel

Code = bytes | bytearray | str


class ObjectCode(Given):
    """PTX or an object file, loaded when the first kernel is requested."""

    _code: Code
    _type: str
    _name: str
    _mapping: dict[str, str]
    _library: driver.CUlibrary | None
    _origin = "an ObjectCode comes from ObjectCode.from_ptx, from_cubin or from_object"

    @classmethod
    def _init(
        cls, module: Code | PathLike[str], code_type: str, *, name: str = "", symbol_mapping: dict[str, str] | None = None
    ) -> ObjectCode:
        self = cls.__new__(cls)
        is_path = isinstance(module, PathLike) or (isinstance(module, str) and "\n" not in module and not module.lstrip().startswith("."))
        self._code = Path(module).read_bytes() if is_path else module  # type: ignore[arg-type, assignment]
        self._type, self._name, self._mapping, self._library = (
            code_type,
            name or (str(module) if is_path else ""),
            symbol_mapping or {},
            None,
        )
        return self

    @staticmethod
    def from_ptx(module: bytes | str | PathLike[str], *, name: str = "", symbol_mapping: dict[str, str] | None = None) -> ObjectCode:
        """Code from PTX: the text, or the path of a file."""
        return ObjectCode._init(module, "ptx", name=name, symbol_mapping=symbol_mapping)

    @staticmethod
    def from_cubin(module: bytes | str | PathLike[str], *, name: str = "", symbol_mapping: dict[str, str] | None = None) -> ObjectCode:
        """Code from an object file of warplab, or a linked image."""
        return ObjectCode._init(module, "cubin", name=name, symbol_mapping=symbol_mapping)

    @staticmethod
    def from_object(module: bytes | str | PathLike[str], *, name: str = "", symbol_mapping: dict[str, str] | None = None) -> ObjectCode:
        """Code from an object file for the linker."""
        return ObjectCode._init(module, "object", name=name, symbol_mapping=symbol_mapping)

    @staticmethod
    def from_fatbin(module: bytes | str | PathLike[str], *, name: str = "", symbol_mapping: dict[str, str] | None = None) -> ObjectCode:
        """Code from a fat binary; loading it fails."""
        return ObjectCode._init(module, "fatbin", name=name, symbol_mapping=symbol_mapping)

    @staticmethod
    def from_ltoir(module: bytes | str | PathLike[str], *, name: str = "", symbol_mapping: dict[str, str] | None = None) -> ObjectCode:
        """Code from LTO-IR; loading it fails."""
        return ObjectCode._init(module, "ltoir", name=name, symbol_mapping=symbol_mapping)

    @staticmethod
    def from_library(module: bytes | str | PathLike[str], *, name: str = "", symbol_mapping: dict[str, str] | None = None) -> ObjectCode:
        """Code from a library of object files; loading it fails."""
        return ObjectCode._init(module, "library", name=name, symbol_mapping=symbol_mapping)

    @property
    def image(self) -> bytes:
        """The code as bytes."""
        return self._code.encode() if isinstance(self._code, str) else bytes(self._code)

    @property
    def handle(self) -> driver.CUlibrary:
        """The driver's handle of the library."""
        if self._library is None:
            if self._type not in ("ptx", "cubin"):
                raise RuntimeError(f"{self._type} code is not for loading")
            self._library = do(driver.cuLibraryLoadData, self.image, [], [], 0, [], [], 0)
        assert self._library is not None
        return self._library

    def get_kernel(self, name: str | bytes) -> Kernel:
        """The kernel with this name, or with this name in the symbol mapping."""
        plain = name.decode() if isinstance(name, bytes) else name
        raw = self._mapping.get(plain, plain).encode()
        return Kernel.from_handle(do(driver.cuLibraryGetKernel, self.handle, raw), self)

    def get_module(self) -> driver.CUmodule:
        """The code as a module of the current context."""
        module: driver.CUmodule = do(driver.cuLibraryGetModule, self.handle)
        return module

    @property
    def kernels(self) -> list[Kernel]:
        """All kernels."""
        n = do(driver.cuLibraryGetKernelCount, self.handle)
        return [Kernel.from_handle(k, self) for k in do(driver.cuLibraryEnumerateKernels, n, self.handle)]

    @property
    def code(self) -> Code:
        """The source of the code."""
        return self._code

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def code_type(self) -> str:
        """ptx, cubin, ..."""
        return self._type

    @property
    def symbol_mapping(self) -> dict[str, str]:
        """The mapping of names to symbols."""
        return self._mapping

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<ObjectCode {self._type}{f' {self._name}' if self._name else ''}, {len(self._code)} bytes>"
