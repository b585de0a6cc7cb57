"""What a wheel has beside the files of the tree: types of CUDA's calls, which runtime/api/stubs.py makes of their tables."""

import sys
from pathlib import Path
from types import ModuleType

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildWithStubs(build_py):
    """Copies the packages, then writes the stubs."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for name in ("warplab", "warplab.runtime", "warplab.runtime.driver", "warplab.runtime.cudart"):
                package = ModuleType(name)  # empty: the packages' own code needs numpy, which a build has not
                package.__path__ = [str(ROOT.joinpath(*name.split(".")[1:]))]
                sys.modules[name] = package
            from warplab.runtime.api.stubs import write

            write(Path(self.build_lib) / "warplab" / "runtime")


setup(cmdclass={"build_py": BuildWithStubs})
