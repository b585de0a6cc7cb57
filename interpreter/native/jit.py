"""The host's compiler: LLVM IR to functions of this process, through llvmlite."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite  # type: ignore[import-untyped, unused-ignore]
import llvmlite.binding as llvm  # type: ignore[import-untyped, unused-ignore]

from .store import ObjectStore, folder

# Of all that LLVM's optimiser does, what makes the code faster; passes that look for equal values gain nothing, and the one that llvmlite has
# (NewGVN) ends the process at some nests of loops.
PASSES = ("always_inliner", "sroa")

_numbers = itertools.count()


@functools.cache
def _host() -> tuple[Any, Any]:
    """The target machine and the compiler of this process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return _machine(), llvm.create_lljit_compiler(_machine())


def _machine() -> Any:
    return llvm.Target.from_default_triple().create_target_machine(opt=2, cpu=llvm.get_host_cpu_name(), features=_features(), jit=True)


@functools.cache
def _features() -> str:
    features: str = llvm.get_host_cpu_features().flatten()
    return features


def compiled(text: str) -> bytes:
    """IR as an object file."""
    machine, _ = _host()
    code: bytes = machine.emit_object(optimised(text, machine))
    return code


def assembly(text: str) -> str:
    """IR as this processor's assembly language."""
    machine, _ = _host()
    code: str = machine.emit_assembly(optimised(text, machine))
    return code


def optimised(text: str, machine: Any) -> Any:
    """IR as a module for a target machine; the text is nearly as LLVM would leave it."""
    module = llvm.parse_assembly(text)
    module.verify()
    passes = llvm.create_new_module_pass_manager()
    for name in PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return module


class NativeSource:
    """IR that can be compiled, or that may have been once, on a processor like this one."""

    def __init__(self, text: str | Callable[[], str], names: Sequence[str], made_from: str = "") -> None:
        """The text, or what makes it of other text."""
        self._text = text
        self.names = tuple(names)
        made_by = *PASSES, llvmlite.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name(), _features()
        self.key = hashlib.sha256("\0".join((*made_by, made_from or self.text)).encode()).hexdigest()
        self._store = ObjectStore(folder())

    @property
    def text(self) -> str:
        """The IR."""
        return self._text if isinstance(self._text, str) else self._text()

    @property
    def is_kept(self) -> bool:
        """Is its code on disk?"""
        return self._store.get(self.key) is not None

    def kept(self) -> CompiledLibrary | None:
        """What an earlier process compiled; None if none did."""
        code = self._store.get(self.key)
        return None if code is None else CompiledLibrary(code, self.names)

    def compiled(self) -> CompiledLibrary:
        """The functions, kept for other processes."""
        found = self.kept()
        if found is not None:
            return found
        code = compiled(self.text)
        self._store.put(self.key, code)
        return CompiledLibrary(code, self.names)


class CompiledLibrary:
    """Functions as machine code, alive as long as this is."""

    def __init__(self, code: bytes, names: Sequence[str]) -> None:
        _, compiler = _host()
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            builder.export_symbol(name)
        self._tracker = builder.link(compiler, f"warplab{next(_numbers)}")
        self.addresses = {name: self._tracker[name] for name in names}
