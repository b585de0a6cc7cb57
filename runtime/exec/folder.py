"""A folder for one run, for programs that look for files: the libraries that they load or link, and what stands for a compiler of machine code.

Most programs need none of it: the auditor decides which library a name means.  But some look into the folders of LD_LIBRARY_PATH before
they load anything, or give such a folder to a linker.
"""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence

from .process import LIBC

SESSION_OF_ITS_OWN = "warplab-clean"
PR_SET_NAME = 15
RELEASE = "13.0"  # of the compiler that it passes for: clients decide by it which version of PTX they write
# What is compiled to machine code stays PTX, which is loaded in the same way.  The version tells a client's cache the two apart.
ASSEMBLER = f"""#!/bin/sh
out=elf.o
while [ $# -gt 0 ]; do
    case "$1" in
    --version | -V)
        echo "ptxas: NVIDIA (R) Ptx optimizing assembler"
        echo "Cuda compilation tools, release {RELEASE}, warplab exec"
        exit 0 ;;
    -o | --output-file) out=$2; shift ;;
    -*) ;;
    *.ptx) source=$1 ;;
    esac
    shift
done
exec cp "$source" "$out"
"""
# nvcc, which compiles to PTX where it is asked for machine code alone.  What it links for devices holds no PTX.
COMPILER = """#!/bin/sh
if [ "$_WARPLAB_COMPILES" ]; then
    echo "warplab: the nvcc that was found when warplab exec began calls the compiler that NVCC names: put it on PATH inside of warplab exec" >&2
    exit 1
fi
export _WARPLAB_COMPILES=1
case " $* " in *" --device-link "* | *" -dlink "*) exec {nvcc} "$@" ;; esac
machine= output= source=
for word; do
    shift
    case "$word" in
    -cubin | --cubin) machine=yes word=--ptx ;;
    -o | -o?* | --output-file | --output-file=*) output=yes ;;
    *.cu) source=${{word##*/}} ;;
    esac
    set -- "$@" "$word"
done
if [ "$machine" ] && [ ! "$output" ]; then set -- "$@" -o "${{source%.cu}}.cubin"; fi
exec {nvcc} "$@"
"""
COMPILER_VARIABLE = "NVCC"
# How programs that bring an assembler of their own are told to take another.
ASSEMBLER_VARIABLES = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")


def _installed_compiler(given: Mapping[str, str]) -> str | None:
    """Where nvcc is, quoted for a shell."""
    folders = [os.path.join(given[name], "bin") for name in ("CUDA_PATH", "CUDA_HOME") if given.get(name)]
    found = shutil.which("nvcc", path=os.pathsep.join([*folders, given.get("PATH", os.defpath)]))
    return shlex.quote(found) if found else None


class RunFolder:
    """The folder of one run; gone when the run is, whatever ends it."""

    def __init__(self, libraries: Mapping[str, str], files: Mapping[str, Sequence[str]]) -> None:
        self.path = tempfile.mkdtemp(prefix="warplab-exec-")
        self.cleaner = self._watched()
        for soname, path in libraries.items():
            for name in files[soname]:
                os.symlink(path, os.path.join(self.path, name))
        self.assembler = self._script("ptxas", ASSEMBLER)

    def _script(self, name: str, text: str) -> str:
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
            file.write(text)
        return path

    def _watched(self) -> int:
        """Starts a process that removes the folder if this one is killed."""
        launcher = os.pidfd_open(os.getpid())
        pid = os.fork()
        if pid:
            os.close(launcher)
            return pid
        try:
            os.setsid()  # signals for the program's group are not for it
            LIBC.prctl(PR_SET_NAME, SESSION_OF_ITS_OWN.encode())
            os.closerange(0, launcher)
            os.closerange(launcher + 1, os.sysconf("SC_OPEN_MAX"))
            poll = select.poll()
            poll.register(launcher, select.POLLIN)
            poll.poll()
            shutil.rmtree(self.path, ignore_errors=True)
        finally:
            os._exit(0)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The variables through which programs find what is in the folder; an assembler that the user has set stays."""
        out = {"LD_LIBRARY_PATH": ":".join(filter(None, (self.path, given.get("LD_LIBRARY_PATH"))))}
        if compiler := given.get(COMPILER_VARIABLE) or _installed_compiler(given):
            out[COMPILER_VARIABLE] = self._script("nvcc", COMPILER.format(nvcc=compiler))
        return out | {name: self.assembler for name in ASSEMBLER_VARIABLES if name not in given}

    def remove(self) -> None:
        """The run has ended."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.kill(self.cleaner, signal.SIGKILL)
        os.waitpid(self.cleaner, 0)
