"""What the host reports of a device model beside its profile: memory, and every attribute by CUDA's name for it.

The profile says what it knows; the rest is what an H200's driver reports, or what the programming guide's tables say of older devices.
"""

from __future__ import annotations

import sys

from warplab.isa.profiles import DeviceProfile

MIB = 1 << 20
# MiB of device memory of the device that stands for each capability.
_MEMORY = {
    (1, 0): 768, (1, 1): 512, (1, 2): 512, (1, 3): 4096, (2, 0): 3072, (2, 1): 1024, (3, 0): 2048, (3, 2): 1892, (3, 5): 5120,
    (3, 7): 12288, (5, 0): 2048, (5, 2): 4096, (5, 3): 3983, (6, 0): 16384, (6, 1): 8192, (6, 2): 7850, (7, 0): 16384, (7, 2): 15692,
    (7, 5): 15360, (8, 0): 40960, (8, 6): 24576, (8, 7): 30536, (8, 9): 23034, (9, 0): 143771,
}  # fmt: skip
_BUS_BITS = {(9, 0): 6016, (8, 9): 192, (8, 7): 256, (8, 6): 384, (8, 0): 5120, (7, 5): 256, (7, 2): 256, (7, 0): 4096, (6, 2): 128,
             (6, 1): 256, (6, 0): 4096, (5, 3): 64, (5, 2): 256, (5, 0): 128, (3, 7): 384, (3, 5): 320, (3, 2): 64, (3, 0): 256,
             (2, 1): 256, (2, 0): 384, (1, 3): 512, (1, 2): 128, (1, 1): 256, (1, 0): 384}  # fmt: skip
_INTEGRATED = {(3, 2), (5, 3), (6, 2), (7, 2), (8, 7)}
# f32 over f64 throughput is the profile's; what a texture may have on 1.x, on 2.x to 5.x, and since 6.0.
_TEXTURES = {
    "MAXIMUM_TEXTURE1D_WIDTH": (8192, 65536, 131072), "MAXIMUM_TEXTURE2D_WIDTH": (65536, 65536, 131072),
    "MAXIMUM_TEXTURE2D_HEIGHT": (32768, 65535, 65536), "MAXIMUM_TEXTURE3D_WIDTH": (2048, 4096, 16384),
    "MAXIMUM_TEXTURE3D_HEIGHT": (2048, 4096, 16384), "MAXIMUM_TEXTURE3D_DEPTH": (2048, 4096, 16384),
    "MAXIMUM_TEXTURE2D_LAYERED_WIDTH": (8192, 16384, 32768), "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT": (8192, 16384, 32768),
    "MAXIMUM_TEXTURE2D_LAYERED_LAYERS": (512, 2048, 2048), "MAXIMUM_TEXTURE1D_LAYERED_WIDTH": (8192, 16384, 32768),
    "MAXIMUM_TEXTURE1D_LAYERED_LAYERS": (512, 2048, 2048), "MAXIMUM_TEXTURE2D_GATHER_WIDTH": (0, 16384, 32768),
    "MAXIMUM_TEXTURE2D_GATHER_HEIGHT": (0, 16384, 32768), "MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE": (0, 2048, 8192),
    "MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE": (0, 2048, 8192), "MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE": (0, 16384, 32768),
    "MAXIMUM_TEXTURECUBEMAP_WIDTH": (0, 16384, 32768), "MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH": (0, 16384, 32768),
    "MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS": (0, 2046, 2046), "MAXIMUM_TEXTURE1D_LINEAR_WIDTH": (134217728, 134217728, 268435456),
    "MAXIMUM_TEXTURE2D_LINEAR_WIDTH": (65000, 65000, 131072), "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT": (65000, 65000, 65000),
    "MAXIMUM_TEXTURE2D_LINEAR_PITCH": (1048544, 1048544, 2097120), "MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH": (0, 16384, 32768),
    "MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT": (0, 16384, 32768), "MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH": (0, 16384, 32768),
}  # fmt: skip
# Of 2.x, where it differs from 3.x and 5.x.
_TEXTURES_2 = {f"MAXIMUM_TEXTURE3D_{axis}": 2048 for axis in ("WIDTH", "HEIGHT", "DEPTH")}
# Surfaces of 2.x and 3.x, of 5.x, and since 6.0 (table F-2, and the same table of guide 11).
_SURFACES = {
    "MAXIMUM_SURFACE1D_WIDTH": (65536, 16384, 32768), "MAXIMUM_SURFACE2D_WIDTH": (65536, 65536, 131072),
    "MAXIMUM_SURFACE2D_HEIGHT": (32768, 65536, 65536), "MAXIMUM_SURFACE3D_WIDTH": (65536, 4096, 16384),
    "MAXIMUM_SURFACE3D_HEIGHT": (32768, 4096, 16384), "MAXIMUM_SURFACE3D_DEPTH": (2048, 4096, 16384),
    "MAXIMUM_SURFACE1D_LAYERED_WIDTH": (65536, 16384, 32768), "MAXIMUM_SURFACE1D_LAYERED_LAYERS": (2048, 2048, 2048),
    "MAXIMUM_SURFACE2D_LAYERED_WIDTH": (65536, 16384, 32768), "MAXIMUM_SURFACE2D_LAYERED_HEIGHT": (32768, 16384, 32768),
    "MAXIMUM_SURFACE2D_LAYERED_LAYERS": (2048, 2048, 2048), "MAXIMUM_SURFACECUBEMAP_WIDTH": (32768, 16384, 32768),
    "MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH": (32768, 16384, 32768), "MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS": (2046, 2046, 2046),
}  # fmt: skip
# What is true from a capability on.
_SINCE = {
    "CONCURRENT_KERNELS": (2, 0), "UNIFIED_ADDRESSING": (2, 0), "CAN_TEX2D_GATHER": (2, 0), "STREAM_PRIORITIES_SUPPORTED": (3, 5),
    "MANAGED_MEMORY": (3, 0), "COMPUTE_PREEMPTION_SUPPORTED": (6, 0),
    "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM": (6, 0), "COOPERATIVE_LAUNCH": (6, 0), "COOPERATIVE_MULTI_DEVICE_LAUNCH": (6, 0),
    "READ_ONLY_HOST_REGISTER_SUPPORTED": (8, 0), "CLUSTER_LAUNCH": (9, 0), "UNIFIED_FUNCTION_POINTERS": (9, 0),
    "GLOBAL_L1_CACHE_SUPPORTED": (5, 2), "LOCAL_L1_CACHE_SUPPORTED": (2, 0), "CAN_USE_64_BIT_STREAM_MEM_OPS": (2, 0),
    "CAN_USE_STREAM_WAIT_VALUE_NOR": (2, 0), "HOST_REGISTER_SUPPORTED": (2, 0), "MULTICAST_SUPPORTED": (9, 0),
    "TENSOR_MAP_ACCESS_SUPPORTED": (9, 0),
}  # fmt: skip
# The part of the L2 cache that persisting accesses may keep, in sixteenths.
_PERSISTING = {(8, 0): 12, (8, 6): 11, (8, 7): 11, (8, 9): 11, (9, 0): 10}
# The model has these on every device that can have memory pools at all, and never those.
_ALWAYS = {
    "GPU_OVERLAP": 1, "COMPUTE_MODE": 0, "KERNEL_EXEC_TIMEOUT": 0, "TCC_DRIVER": 0, "WARP_SIZE": 32,
    "MAX_PITCH": 2147483647, "TEXTURE_ALIGNMENT": 512, "SURFACE_ALIGNMENT": 512, "TEXTURE_PITCH_ALIGNMENT": 32, "ASYNC_ENGINE_COUNT": 3,
    "PCI_BUS_ID": 1, "PCI_DEVICE_ID": 0, "PCI_DOMAIN_ID": 0, "MULTI_GPU_BOARD": 0, "MULTI_GPU_BOARD_GROUP_ID": 0,
    "MEMORY_POOLS_SUPPORTED": 1, "VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED": 1, "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 1,
    "MEMPOOL_SUPPORTED_HANDLE_TYPES": 0, "NUMA_CONFIG": 0, "NUMA_ID": -1, "HOST_NUMA_ID": 0, "GPU_PCI_DEVICE_ID": 0, "GPU_PCI_SUBSYSTEM_ID": 0,
    "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED": int(sys.platform == "linux"), "IPC_EVENT_SUPPORTED": int(sys.platform == "linux"),
    "DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED": 0, "HOST_MEMORY_POOLS_SUPPORTED": 1, "HOST_NUMA_MEMORY_POOLS_SUPPORTED": 0,
}  # fmt: skip
_H200 = {
    "MEMORY_CLOCK_RATE": 3201000, "CLOCK_RATE": 1980000, "ECC_ENABLED": 1, "L2_CACHE_SIZE": 62914560,
}  # fmt: skip
# Features of real systems that the model does not have, whatever the device.
_ABSENT = """
    HOST_NATIVE_ATOMIC_SUPPORTED PAGEABLE_MEMORY_ACCESS CAN_USE_STREAM_MEM_OPS_V1 CAN_USE_64_BIT_STREAM_MEM_OPS_V1
    CAN_USE_STREAM_WAIT_VALUE_NOR_V1 CAN_FLUSH_REMOTE_WRITES PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
    HANDLE_TYPE_WIN32_HANDLE_SUPPORTED HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED
    GENERIC_COMPRESSION_SUPPORTED GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED SPARSE_CUDA_ARRAY_SUPPORTED
    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED GPU_DIRECT_RDMA_SUPPORTED GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
    GPU_DIRECT_RDMA_WRITES_ORDERING DMA_BUF_SUPPORTED HANDLE_TYPE_FABRIC_SUPPORTED
    MPS_ENABLED D3D12_CIG_SUPPORTED MEM_DECOMPRESS_ALGORITHM_MASK MEM_DECOMPRESS_MAXIMUM_LENGTH
    VULKAN_CIG_SUPPORTED HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED HOST_NUMA_MULTINODE_IPC_SUPPORTED
    HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED HOST_ALLOC_DMA_BUF_SUPPORTED ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED
    ATOMIC_REDUCTION_SUPPORTED D3D12_CIG_STREAMS_SUPPORTED LOCALITY_DOMAIN_COUNT MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK
    DMA_BUF_MMAP_SUPPORTED LOGICAL_ENDPOINT_UNICAST_SUPPORTED LOGICAL_ENDPOINT_MULTICAST_SUPPORTED
    LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED
    LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES VULKAN_CIG_STREAMS_SUPPORTED
    TENSOR_MAP_LARGE_TENSOR_MIN_SIZE GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED
""".split()


def memory_size(profile: DeviceProfile) -> int:
    """Bytes of device memory."""
    return _MEMORY.get(profile.capability, 16384) * MIB


def persisting_l2(profile: DeviceProfile) -> int:
    """The most of the L2 cache that may be kept for persisting accesses: an attribute that every context asks for."""
    return profile.l2_cache * _PERSISTING.get(profile.capability, 0) // 16


def attributes(profile: DeviceProfile) -> dict[str, int]:
    """Every device attribute, without CU_DEVICE_ATTRIBUTE_ before its name."""
    c = profile.capability
    age = 0 if c < (2, 0) else 1 if c < (6, 0) else 2
    out = {**_ALWAYS, **dict.fromkeys(_ABSENT, 0)}
    out |= {name: sizes[age] for name, sizes in _TEXTURES.items()} | (_TEXTURES_2 if c[0] == 2 else {})
    generation = 0 if c < (5, 0) else 1 if c < (6, 0) else 2
    out |= {name: sizes[generation] if profile.has("surfaces") else 0 for name, sizes in _SURFACES.items()}
    out |= {name: int(c >= since) for name, since in _SINCE.items()}
    for axis, block, grid in zip("XYZ", profile.max_block, profile.max_grid, strict=True):
        out[f"MAX_BLOCK_DIM_{axis}"], out[f"MAX_GRID_DIM_{axis}"] = block, grid
    out |= {
        "MAX_THREADS_PER_BLOCK": profile.max_threads_per_block,
        "MAX_SHARED_MEMORY_PER_BLOCK": profile.shared_per_block,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": profile.shared_per_block_optin,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": profile.shared,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": profile.shared_reserved_per_block,
        "TOTAL_CONSTANT_MEMORY": profile.constant_memory,
        "MAX_REGISTERS_PER_BLOCK": profile.registers_per_block,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": profile.registers,
        "MAX_THREADS_PER_MULTIPROCESSOR": profile.max_threads,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": profile.max_blocks,
        "MULTIPROCESSOR_COUNT": profile.multiprocessors,
        "CLOCK_RATE": round(profile.clock_mhz * 1000),
        "GLOBAL_MEMORY_BUS_WIDTH": _BUS_BITS.get(c, 256),
        # both edges of the clock carry data
        "MEMORY_CLOCK_RATE": profile.memory_bandwidth * 8 // _BUS_BITS.get(c, 256) // 2000,
        "L2_CACHE_SIZE": profile.l2_cache,
        "MAX_PERSISTING_L2_CACHE_SIZE": persisting_l2(profile),
        "MAX_ACCESS_POLICY_WINDOW_SIZE": 128 * MIB if c >= (8, 0) else 0,
        "MEM_SYNC_DOMAIN_COUNT": 4 if c >= (9, 0) else 1,
        "INTEGRATED": int(c in _INTEGRATED),
        # The host and an integrated device since 6.0 take turns at managed memory; no device of 1.0 and 1.1 maps the host's.
        "CONCURRENT_MANAGED_ACCESS": int(c >= (6, 0) and c not in _INTEGRATED),
        "CAN_MAP_HOST_MEMORY": int(c >= (1, 2)),
        "ECC_ENABLED": 0,
        "COMPUTE_CAPABILITY_MAJOR": c[0],
        "COMPUTE_CAPABILITY_MINOR": c[1],
        "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": profile.throughput("f32") // profile.throughput("f64") if profile.throughput("f64") else 0,
    }
    return out | (_H200 if c == (9, 0) and not profile.words else {})
