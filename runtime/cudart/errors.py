"""The runtime's errors: the last one of each thread, names and words.  The words of what only this API knows stand here."""

from __future__ import annotations

from ..driver.tables.enums import CUresult
from ..driver.tables.errors import MESSAGES
from ..errors import ApiError
from .api import RUNTIME, api
from .enums import cudaError_t

_WORDS = """\
9 invalid configuration argument
10 Driver is newer than runtime and returned parameters the runtime cannot process
12 invalid pitch argument
13 invalid device symbol
16 invalid host pointer
17 invalid device pointer
18 invalid texture reference
19 texture is not bound to a pointer
20 invalid channel descriptor
21 invalid copy direction for memcpy
22 invalid address of constant
23 fetch from texture failed
24 cannot fetch from a texture that is not bound
25 incorrect use of __syncthreads()
26 linear filtering not supported for non-float type
27 read as normalized float not supported for data type
28 device emulation mode and device execution mode cannot be mixed
31 feature not yet implemented
32 memory size or pointer value too large to fit in 32 bit
35 CUDA driver version is insufficient for CUDA runtime version
37 invalid surface reference
43 duplicate global variable looked up by string name
44 duplicate texture looked up by string name
45 duplicate surface looked up by string name
49 incompatible driver context
52 __global__ function call is not configured
53 unspecified launch failure in prior launch
65 launch would exceed maximum depth of nested launches
66 launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)
67 launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)
68 cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth
69 launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount
98 invalid device function
103 integrity checks failed
127 startup failure in cuda runtime
917 API call not permitted since the green context associated with the stream has been destroyed
918 recapturing to the source graph failed and had to be terminated
10000 api failure base
201 invalid device context
"""
WORDS = {int(number): words for number, _, words in (line.partition(" ") for line in _WORDS.splitlines())}


@api
def cudaGetLastError() -> None:
    """What went wrong last; success from then on, unless it sticks."""
    code, RUNTIME.last = RUNTIME.last, cudaError_t.cudaSuccess
    if code:
        raise ApiError(code.name)


@api
def cudaPeekAtLastError() -> None:
    """What went wrong last."""
    if RUNTIME.last:
        raise ApiError(RUNTIME.last.name)


@api
def cudaGetErrorName(error: object) -> bytes:
    """The name of a code."""
    try:
        return str(cudaError_t(int(error)).name).encode()  # type: ignore[call-overload]
    except ValueError:
        return b"unrecognized error code"


@api
def cudaGetErrorString(error: object) -> bytes:
    """What a code means, in a few words."""
    number = int(error)  # type: ignore[call-overload]
    found = WORDS.get(number)
    if found is None and number in CUresult._value2member_map_:
        found = MESSAGES.get(CUresult(number).name)
    return (found or "unrecognized error code").encode()
