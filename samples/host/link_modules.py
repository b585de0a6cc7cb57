"""Links two modules on the host: main.ptx calls a function and reads a table of polynomial.ptx.

python samples/host/link_modules.py         on warplab
python samples/host/link_modules.py --gpu   on a GPU, with cuda.bindings: nothing but the import changes
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

if "--gpu" in sys.argv:
    from cuda.bindings import driver as cu
else:
    from warplab.runtime import driver as cu

FOLDER = Path(__file__).parents[1] / "link"


def check(result: tuple[Any, ...]) -> Any:
    """The results of a call, or its error as an exception."""
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(cu.cuGetErrorName(code)[1].decode())
    return values[0] if len(values) == 1 else tuple(values)


def linked(*names: str) -> Any:
    """A module of several files, or the error of the linker."""
    link = check(cu.cuLinkCreate(0, [], []))
    try:
        for name in names:
            text = (FOLDER / name).read_bytes() + b"\0"
            check(cu.cuLinkAddData(link, cu.CUjitInputType.CU_JIT_INPUT_PTX, text, len(text), name.encode(), 0, [], []))
        image, _ = check(cu.cuLinkComplete(link))
        return check(cu.cuModuleLoadData(image))  # the image belongs to the link: load it before that goes
    finally:
        check(cu.cuLinkDestroy(link))


def main() -> None:
    """Links, runs, replaces the table, and runs again."""
    check(cu.cuInit(0))
    device = check(cu.cuDeviceGet(0))
    check(cu.cuCtxSetCurrent(check(cu.cuDevicePrimaryCtxRetain(device))))
    try:
        linked("main.ptx")
    except RuntimeError as e:
        print(f"main.ptx alone: {e}")

    module = linked("main.ptx", "polynomial.ptx")
    evaluate = check(cu.cuModuleGetFunction(module, b"evaluate"))
    table, size = check(cu.cuModuleGetGlobal(module, b"coefficient"))
    x, out = np.arange(-16, 16, dtype=np.float32), np.zeros(32, np.float32)
    at_x, at_out = (check(cu.cuMemAlloc(x.nbytes)) for _ in range(2))
    check(cu.cuMemcpyHtoD(at_x, x.ctypes.data, x.nbytes))
    for coefficients in (None, np.array([5, 0, 0, 1], np.float32)):
        if coefficients is not None:
            assert coefficients.nbytes == size
            check(cu.cuMemcpyHtoD(table, coefficients.ctypes.data, size))
        check(cu.cuLaunchKernel(evaluate, 1, 1, 1, 32, 1, 1, 0, 0, ((at_x, at_out), (None, None)), 0))
        check(cu.cuMemcpyDtoH(out.ctypes.data, at_out, out.nbytes))
        a, b, c, d = coefficients if coefficients is not None else (1, 2, 3, 4)
        assert (out == a + b * x + c * x**2 + d * x**3).all()
        print(f"{a:g} + {b:g} x + {c:g} x^2 + {d:g} x^3 at 2 is {out[18]:g}, right everywhere")
    for address in (at_x, at_out):
        check(cu.cuMemFree(address))
    check(cu.cuModuleUnload(module))


if __name__ == "__main__":
    main()
