"""The properties of a device in cuda.core: each is the driver's attribute of that name in capitals; some cuda.core has not, some are flags."""

from __future__ import annotations

from typing import NamedTuple

from ..device.machine import machine

ABSENT = """
    atomic_reduction_supported can_use_64_bit_stream_mem_ops_v1 can_use_stream_mem_ops_v1 can_use_stream_wait_value_nor_v1
    cooperative_multi_device_launch d3d12_cig_streams_supported dma_buf_mmap_supported gpu_direct_rdma_with_localized_memory_supported
    locality_domain_count locality_domain_multiprocessor_count logical_endpoint_counted_ops_supported
    logical_endpoint_multicast_supported logical_endpoint_supported_handle_types
    logical_endpoint_unicast_access_on_owner_device_supported logical_endpoint_unicast_supported
    max_oversized_shared_memory_per_block tensor_map_large_tensor_min_size virtual_address_management_supported
    vulkan_cig_streams_supported
""".split()
FLAGS = """
    gpu_overlap kernel_exec_timeout integrated can_map_host_memory concurrent_kernels ecc_enabled tcc_driver unified_addressing
    global_l1_cache_supported local_l1_cache_supported managed_memory multi_gpu_board host_native_atomic_supported
    pageable_memory_access concurrent_managed_access compute_preemption_supported can_use_host_pointer_for_registered_mem
    cooperative_launch pageable_memory_access_uses_host_page_tables direct_managed_mem_access_from_host
    virtual_memory_management_supported handle_type_posix_file_descriptor_supported handle_type_win32_handle_supported
    handle_type_win32_kmt_handle_supported generic_compression_supported gpu_direct_rdma_with_cuda_vmm_supported
    sparse_cuda_array_supported read_only_host_register_supported memory_pools_supported gpu_direct_rdma_supported
    deferred_mapping_cuda_array_supported multicast_supported can_tex2d_gather stream_priorities_supported can_flush_remote_writes
    host_register_supported timeline_semaphore_interop_supported cluster_launch can_use_64_bit_stream_mem_ops
    can_use_stream_wait_value_nor dma_buf_supported ipc_event_supported tensor_map_access_supported handle_type_fabric_supported
    unified_function_pointers mps_enabled d3d12_cig_supported vulkan_cig_supported host_numa_virtual_memory_management_supported
    host_numa_memory_pools_supported host_numa_multinode_ipc_supported host_memory_pools_supported
    host_virtual_memory_management_supported host_alloc_dma_buf_supported only_partial_host_native_atomic_supported
""".split()


class ComputeCapability(NamedTuple):
    """A compute capability: 9 and 0 for sm_90."""

    major: int
    minor: int


SHOWN = ("multiprocessor_count", "max_threads_per_multiprocessor", "max_threads_per_block", "max_shared_memory_per_block_optin", "l2_cache_size",
         "warp_size")  # fmt: skip


class DeviceProperties:
    """The attributes of a device by name."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id

    def __getattr__(self, name: str) -> int | bool:
        if name not in dir(self):
            raise AttributeError(f"no property is called {name}")
        value = machine().device(self._device_id).attribute(name.upper())
        return bool(value) if name in FLAGS else value

    def __dir__(self) -> list[str]:
        return sorted({name.lower() for name in machine().device(self._device_id).attributes} - set(ABSENT))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in SHOWN)
        return f"<DeviceProperties of device {self._device_id}: {shown}; dir() lists all {len(dir(self))}>"
