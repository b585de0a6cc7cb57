"""What CUDA's codes mean, in CUDA's words for cuGetErrorString and cudaGetErrorString; by the code's name without CUDA_ERROR_."""

from __future__ import annotations

_TABLE = """
SUCCESS no error
INVALID_VALUE invalid argument
OUT_OF_MEMORY out of memory
NOT_INITIALIZED initialization error
DEINITIALIZED driver shutting down
PROFILER_DISABLED profiler disabled while using external profiling tool
PROFILER_NOT_INITIALIZED profiler not initialized: call cudaProfilerInitialize()
PROFILER_ALREADY_STARTED profiler already started
PROFILER_ALREADY_STOPPED profiler already stopped
STUB_LIBRARY CUDA driver is a stub library
CALL_REQUIRES_NEWER_DRIVER API call is not supported in the installed CUDA driver
DEVICE_UNAVAILABLE CUDA-capable device(s) is/are busy or unavailable
MULTICAST_RESOURCE_FULL multicast resource full
NO_DEVICE no CUDA-capable device is detected
INVALID_DEVICE invalid device ordinal
DEVICE_NOT_LICENSED device doesn't have valid Grid license
INVALID_IMAGE device kernel image is invalid
INVALID_CONTEXT invalid device context
CONTEXT_ALREADY_CURRENT context already current
MAP_FAILED mapping of buffer object failed
UNMAP_FAILED unmapping of buffer object failed
ARRAY_IS_MAPPED array is mapped
ALREADY_MAPPED resource already mapped
NO_BINARY_FOR_GPU no kernel image is available for execution on the device
ALREADY_ACQUIRED resource already acquired
NOT_MAPPED resource not mapped
NOT_MAPPED_AS_ARRAY resource not mapped as array
NOT_MAPPED_AS_POINTER resource not mapped as pointer
ECC_UNCORRECTABLE uncorrectable ECC error encountered
UNSUPPORTED_LIMIT limit is not supported on this architecture
CONTEXT_ALREADY_IN_USE exclusive-thread device already in use by a different thread
PEER_ACCESS_UNSUPPORTED peer access is not supported between these two devices
INVALID_PTX a PTX JIT compilation failed
INVALID_GRAPHICS_CONTEXT invalid OpenGL or DirectX context
NVLINK_UNCORRECTABLE uncorrectable NVLink error detected during the execution
JIT_COMPILER_NOT_FOUND PTX JIT compiler library not found
UNSUPPORTED_PTX_VERSION the provided PTX was compiled with an unsupported toolchain.
JIT_COMPILATION_DISABLED PTX JIT compilation was disabled
UNSUPPORTED_EXEC_AFFINITY the provided execution affinity is not supported
UNSUPPORTED_DEVSIDE_SYNC the provided PTX contains unsupported call to cudaDeviceSynchronize
CONTAINED Invalid access of peer GPU memory over nvlink or a hardware error
INVALID_SOURCE device kernel image is invalid
FILE_NOT_FOUND file not found
SHARED_OBJECT_SYMBOL_NOT_FOUND shared object symbol not found
SHARED_OBJECT_INIT_FAILED shared object initialization failed
OPERATING_SYSTEM OS call failed or operation not supported on this OS
INVALID_HANDLE invalid resource handle
ILLEGAL_STATE the operation cannot be performed in the present state
LOSSY_QUERY attempted introspection would be semantically lossy
NOT_FOUND named symbol not found
NOT_READY device not ready
ILLEGAL_ADDRESS an illegal memory access was encountered
LAUNCH_OUT_OF_RESOURCES too many resources requested for launch
LAUNCH_TIMEOUT the launch timed out and was terminated
LAUNCH_INCOMPATIBLE_TEXTURING launch uses incompatible texturing mode
PEER_ACCESS_ALREADY_ENABLED peer access is already enabled
PEER_ACCESS_NOT_ENABLED peer access has not been enabled
PRIMARY_CONTEXT_ACTIVE cannot set while device is active in this process
CONTEXT_IS_DESTROYED context is destroyed
ASSERT device-side assert triggered
TOO_MANY_PEERS peer mapping resources exhausted
HOST_MEMORY_ALREADY_REGISTERED part or all of the requested memory range is already mapped
HOST_MEMORY_NOT_REGISTERED pointer does not correspond to a registered memory region
HARDWARE_STACK_ERROR hardware stack error
ILLEGAL_INSTRUCTION an illegal instruction was encountered
MISALIGNED_ADDRESS misaligned address
INVALID_ADDRESS_SPACE operation not supported on global/shared address space
INVALID_PC invalid program counter
LAUNCH_FAILED unspecified launch failure
COOPERATIVE_LAUNCH_TOO_LARGE too many blocks in cooperative launch
NOT_PERMITTED operation not permitted
NOT_SUPPORTED operation not supported
SYSTEM_NOT_READY system not yet initialized
SYSTEM_DRIVER_MISMATCH system has unsupported display driver / cuda driver combination
COMPAT_NOT_SUPPORTED_ON_DEVICE forward compatibility was attempted on non supported HW
MPS_CONNECTION_FAILED MPS client failed to connect to the MPS control daemon or the MPS server
MPS_RPC_FAILURE the remote procedural call between the MPS server and the MPS client failed
MPS_SERVER_NOT_READY MPS server is not ready to accept new MPS client requests
MPS_MAX_CLIENTS_REACHED the hardware resources required to create MPS client have been exhausted
MPS_MAX_CONNECTIONS_REACHED the hardware resources required to support device connections have been exhausted
MPS_CLIENT_TERMINATED the MPS client has been terminated by the server
CDP_NOT_SUPPORTED is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it
CDP_VERSION_MISMATCH unsupported interaction between different versions of CUDA Dynamic Parallelism
STREAM_CAPTURE_UNSUPPORTED operation not permitted when stream is capturing
STREAM_CAPTURE_INVALIDATED operation failed due to a previous error during capture
STREAM_CAPTURE_MERGE operation would result in a merge of separate capture sequences
STREAM_CAPTURE_UNMATCHED capture was not ended in the same stream as it began
STREAM_CAPTURE_UNJOINED capturing stream has unjoined work
STREAM_CAPTURE_ISOLATION dependency created on uncaptured work in another stream
STREAM_CAPTURE_IMPLICIT operation would make the legacy stream depend on a capturing blocking stream
CAPTURED_EVENT operation not permitted on an event last recorded in a capturing stream
STREAM_CAPTURE_WRONG_THREAD attempt to terminate a thread-local capture sequence from another thread
TIMEOUT wait operation timed out
GRAPH_EXEC_UPDATE_FAILURE the graph update was not performed because it included changes which violated constraints specific to instantiated graph update
EXTERNAL_DEVICE an async error has occured in external entity outside of CUDA
INVALID_CLUSTER_SIZE a kernel launch error has occurred due to cluster misconfiguration
FUNCTION_NOT_LOADED the function handle is not loaded when calling an API that requires a loaded function
INVALID_RESOURCE_TYPE one or more resources passed in are not valid resource types for the operation
INVALID_RESOURCE_CONFIGURATION one or more resources are insufficient or non-applicable for the operation
INSUFFICIENT_LOADER_VERSION the loader is too old for this program
STREAM_DETACHED the stream is detached
GRAPH_RECAPTURE_FAILURE the graph could not be captured anew
FABRIC_NOT_READY the fabric is not ready
KEY_ROTATION an error happened during the key rotation sequence
TENSOR_MEMORY_LEAK tensor memory not completely freed
UNKNOWN unknown error
"""

MESSAGES = {
    ("CUDA_SUCCESS" if name == "SUCCESS" else f"CUDA_ERROR_{name}"): words
    for name, _, words in (line.partition(" ") for line in _TABLE.strip().splitlines())
}
