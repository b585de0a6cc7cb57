"""What can go wrong for a host program, in CUDA's own names.

    Exception
      UsageError               an option, directive or launch file that can't be used
      ApiError                 a call is refused or reports earlier work: .name is CUDA's (CUDA_ERROR_INVALID_VALUE)
        StickyError            it fails because an earlier launch has failed, which another call has reported before

A launch that ends early leaves its ExecutionError in ApiError.cause, so that tools can show more than the code.
"""

from __future__ import annotations

from warplab.interpreter.faults import Deadlock, ExecutionError, Fault, LimitReached
from warplab.isa.spaces import RESERVED_SHARED

SHARED_WINDOW = 1 << 24  # addresses of shared memory that name a block's own
FAULT_CODES = {
    "out-of-bounds": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "null": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "freed": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "double-free": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "invalid-free": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "read-only": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "misaligned": "CUDA_ERROR_MISALIGNED_ADDRESS",
    "wrong-space": "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "stack-overflow": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "illegal-instruction": "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "unsupported": "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "tensor-memory-leak": "CUDA_ERROR_TENSOR_MEMORY_LEAK",
    "mbarrier-overflow": "CUDA_ERROR_LAUNCH_FAILED",
    "trap": "CUDA_ERROR_LAUNCH_FAILED",
    "assert": "CUDA_ERROR_ASSERT",
    "host-memory": "CUDA_ERROR_OUT_OF_MEMORY",
}


class UsageError(Exception):
    """What a person wrote on a command line, in a directive or in a launch file can't be used; the text says why and what would do."""


class ApiError(Exception):
    """A call that failed."""

    def __init__(self, name: str, message: str = "", cause: ExecutionError | None = None) -> None:
        super().__init__(f"{name}: {message}" if message else name)
        self.name = name
        self.message = message
        self.cause = cause


class StickyError(ApiError):
    """A call that fails only because an earlier launch has: no context works behind a fault."""


def invalid(message: str) -> ApiError:
    """A value that the call does not take."""
    return ApiError("CUDA_ERROR_INVALID_VALUE", message)


def unsupported(message: str) -> ApiError:
    """What this device, or this model of one, does not do."""
    return ApiError("CUDA_ERROR_NOT_SUPPORTED", message)


def code_of(e: ExecutionError) -> str:
    """CUDA's name for what ended a launch."""
    match e:
        case Fault():
            return FAULT_CODES.get(_kind_of(e), "CUDA_ERROR_LAUNCH_FAILED")
        case Deadlock() | LimitReached():
            return "CUDA_ERROR_LAUNCH_TIMEOUT"
        case _:
            return "CUDA_ERROR_LAUNCH_FAILED"


def _kind_of(e: Fault) -> str:
    """As what the hardware counts a fault: which of its units complains depends on more than what was wrong."""
    if e.kind == "misaligned" and "async.bulk" in e.instruction and "tensor" not in e.instruction:
        return "bulk copy"
    if e.kind != "out-of-bounds":
        return e.kind
    if e.space == "shared" and (e.address is None or (e.address + RESERVED_SHARED) % (1 << 32) >= SHARED_WINDOW):
        return "illegal-instruction"
    return e.kind
