"""The host's compiler: LLVM IR to functions of this process, through llvmlite."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped, unused-ignore]

_numbers = itertools.count()


@functools.cache
def _host() -> tuple[Any, Any]:
    """The target machine and the compiler of this process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return _machine(), llvm.create_lljit_compiler(_machine())


def _machine() -> Any:
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(opt=2, cpu=llvm.get_host_cpu_name(), features=features, jit=True)


class CompiledLibrary:
    """Compiled functions, alive as long as this is."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        machine, compiler = _host()
        module = llvm.parse_assembly(text)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization, options.slp_vectorization = True, False
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
        builder = llvm.JITLibraryBuilder().add_ir(str(module))
        for name in names:
            builder.export_symbol(name)
        self._tracker = builder.link(compiler, f"warplab{next(_numbers)}")
        self.addresses = {name: self._tracker[name] for name in names}
