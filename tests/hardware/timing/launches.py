"""The launches that `record.py` times, with sizes at which other things limit them: kernels of blind.cu and pipelines.cu, and the ladders of samples/."""

from __future__ import annotations

from typing import Any, NamedTuple


class Timed(NamedTuple):
    """A launch; arguments are numbers and the names of buffers."""

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: tuple[Any, ...]
    ptx: str = "blind"


def over(n: int, block: int = 256) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """A grid with a thread for each of n elements."""
    return (-(-n // block), 1, 1), (block, 1, 1)


def flat(entry: str, n: int, *args: Any, block: int = 256, threads: int | None = None) -> Timed:
    """A launch over n elements, whose last argument is n."""
    return Timed(entry, *over(threads or n, block), (*args, n))


def square(entry: str, width: int, block: tuple[int, int], *args: Any) -> Timed:
    """A launch over width x width elements."""
    return Timed(entry, (width // block[0], width // block[1], 1), (*block, 1), args)


BLIND = [
    flat("axpby", 30_000, "f0", "f1", "o0", 2.0, 3.0),
    flat("axpby", 1_000_000, "f0", "f1", "o0", 2.0, 3.0, block=128),
    flat("axpby", 1_000_000, "f0", "f1", "o0", 2.0, 3.0, block=768),
    flat("axpby4", 500_000, "f0", "f1", "o0", 2.0, 3.0),
    flat("axpby4", 2_000_000, "f0", "f1", "o0", 2.0, 3.0),
    flat("strided_read", 300_000, "f0", "o0", 2),
    flat("strided_read", 300_000, "f0", "o0", 8),
    flat("strided_read", 300_000, "f0", "o0", 33),
    flat("gather", 400_000, "u0", "f0", "o0"),
    flat("gather", 40_000, "u0", "f0", "o0", block=64),
    flat("scatter", 400_000, "u0", "f0", "o0"),
    flat("horner", 100_000, "f0", "o0", 64),
    flat("horner", 8_448, "f0", "o0", 200, block=64),
    flat("horner_four", 400_000, "f0", "o0", 64, threads=100_000),
    flat("horner_four", 33_792, "f0", "o0", 200, threads=8_448, block=64),
    flat("hashes", 120_000, "o0", 30),
    flat("hashes", 4_224, "o0", 300, block=32),
    flat("options", 200_000, "f0", "f1", "o0"),
    flat("options", 20_000, "f0", "f1", "o0", block=128),
    square("escape_time", 256, (16, 16), "o0", 256, 100),
    square("escape_time", 512, (32, 8), "o0", 512, 50),
    flat("collatz", 60_000, "u0", "o0"),
    flat("collatz", 9_000, "u0", "o0", block=64),
    flat("search", 100_000, "u0", "o0"),
    square("life", 512, (32, 8), "u0", "o0", 512),
    square("life", 1024, (16, 16), "u0", "o0", 1024),
    Timed("heat_3d", (8, 32, 1), (32, 8, 1), ("f0", "o0", 256, 256, 16)),
    Timed("heat_3d", (4, 16, 1), (32, 8, 1), ("f0", "o0", 128, 128, 64)),
    square("blur", 512, (32, 16), "f0", "o0", 512),
    square("blur", 1024, (32, 16), "f0", "o0", 1024),
    Timed("rows_times_vector", (256, 1, 1), (256, 1, 1), ("f0", "f1", "o0", 1024)),
    Timed("rows_times_vector", (66, 1, 1), (128, 1, 1), ("f0", "f1", "o0", 4096)),
    Timed("dot", (132, 1, 1), (256, 1, 1), ("f0", "f1", "o0", 1_000_000)),
    Timed("dot", (528, 1, 1), (512, 1, 1), ("f0", "f1", "o0", 4_000_000)),
    Timed("norm_rows", (1024, 1, 1), (128, 1, 1), ("f0", "o0", 1024)),
    Timed("norm_rows", (100, 1, 1), (256, 1, 1), ("f0", "o0", 6000)),
    Timed("sort_block", (264, 1, 1), (256, 1, 1), ("u0", "o0")),
    Timed("sort_block", (40, 1, 1), (256, 1, 1), ("u0", "o0")),
    Timed("shared_bins", (132, 1, 1), (256, 1, 1), ("b0", "o0", 1_000_000)),
    Timed("shared_bins", (264, 1, 1), (128, 1, 1), ("bc", "o0", 300_000)),
    flat("count_even", 500_000, "u0", "o0"),
    flat("spread_atomics", 200_000, "u0", "o0", 65_536),
    flat("spread_atomics", 200_000, "u0", "o0", 64),
    Timed("product_registers", (4, 4, 1), (256, 1, 1), ("f0", "f1", "o0", 256)),
    Timed("product_registers", (8, 8, 1), (256, 1, 1), ("f0", "f1", "o0", 512)),
    square("jacobi_f64", 512, (32, 8), "f0", "o0", 512),
    flat("roots_f64", 50_000, "f0", "o0"),
    flat("halves", 300_000, "f0", "f1", "o0", 20),
    Timed("tensor_tiles", (32, 4, 1), (128, 1, 1), ("f0", "f1", "o0", 256)),
    Timed("tensor_tiles", (128, 16, 1), (128, 1, 1), ("f0", "f1", "o0", 1024)),
    Timed("staged_sum", (132, 1, 1), (128, 1, 1), ("f0", "o0", 64)),
    Timed("staged_sum", (1056, 1, 1), (128, 1, 1), ("f0", "o0", 24)),
    Timed("chase", (132, 1, 1), (32, 1, 1), ("u0", "o0", 40)),
    Timed("chase", (528, 1, 1), (256, 1, 1), ("u0", "o0", 20)),
    flat("filter", 300_000, "f0", "o0", 32),
    flat("grey", 1_000_000, "b0", "o0"),
    flat("local_table", 60_000, "u0", "o0", block=128),
    Timed("random_points", (264, 1, 1), (256, 1, 1), ("o0", 100)),
    Timed("transpose_odd", (16, 16, 1), (32, 8, 1), ("f0", "o0", 512)),
    Timed("transpose_odd", (32, 32, 1), (32, 8, 1), ("f0", "o0", 1024)),
    flat("integers_by_division", 200_000, "u0", "o0", 7),
]


def cube(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    """One to three sizes as three."""
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def pipe(entry: str, grid: tuple[int, ...], threads: int, *args: Any) -> Timed:
    """A launch of pipelines.cu."""
    return Timed(entry, cube(grid), (threads, 1, 1), args, "pipelines")


PIPELINES = [
    *[pipe(f"bulk_sum_{stages}", (blocks,), 128, "f0", "o0", 24) for stages in (1, 2, 4) for blocks in (132, 660)],
    *[pipe(f"mma_product_{stages}", (n // 64, n // 64), 128, "h0", "h0", "o0", n) for stages in (2, 4) for n in (256, 512, 1024)],
    *[pipe("mma_chains", (blocks,), threads, "o0", 200) for blocks, threads in ((132, 32), (132, 128), (132, 512), (264, 1024))],
    *[
        pipe(f"wgmma_product_{stages}", (x, y), 160, "h0", "h0", "o0", k)
        for stages in (1, 2)
        for x, y, k in ((12, 11, 16), (24, 22, 8), (12, 11, 64))
    ],
    *[pipe("wgmma_alone", (blocks,), 128, "o0", 100) for blocks in (132, 264, 528)],
    *[pipe("cluster_sum", (blocks,), 256, "f0", "o0", 32) for blocks in (128, 512)],
]


def sample(name: str, entry: str, grid: tuple[int, ...], block: tuple[int, ...], *args: Any) -> Timed:
    """A launch of a sample."""
    return Timed(entry, cube(grid), cube(block), args, name)


def matmul(name: str, n: int, tile: int, block: int) -> Timed:
    """A rung of the ladder of matrix products."""
    return sample(f"matmul/{name}", "matmul", (n // tile, n // tile), (block, block), "f0", "f1", "o0", n)


COUNT = 1 << 22
TILES = {"1_naive": (16, 16), "2_registers": (32, 16), "3_tile16": (16, 16), "4_tile32": (32, 32)}
TILES |= {"5_turned": (32, 32), "6_padded": (32, 32), "7_tile64": (64, 16), "8_float4": (64, 16)}
LADDER = [
    *[matmul(name, n, *shape) for n in (512, 1024) for name, shape in TILES.items()],
    sample("matmul/9_fused", "add_bias", (COUNT // 256,), (256,), "f0", "o0", 0.5),
    sample("matmul/9_fused", "relu", (COUNT // 256,), (256,), "f0", "o0"),
    sample("matmul/9_fused", "add_bias_relu", (COUNT // 256,), (256,), "f0", "o0", 0.5),
    *[
        sample(f"reduction/{name}", "reduce", (COUNT // 256,), (256,), "u0", "o0")
        for name in ("1_interleaved", "2_contiguous", "3_sequential")
    ],
    *[sample(f"reduction/{name}", "reduce", (528,), (256,), "f0", COUNT, "o0") for name in ("4_first_add", "5_shuffle")],
    sample("reduction/6_redux", "reduce", (528,), (256,), "u0", COUNT // 4, "o0"),
    *[sample(f"transpose/{name}", "transpose", (32, 32), (32, 8), "f0", "o0", 1024, 1024) for name in ("1_naive", "2_tiled", "3_padded")],
    *[
        sample(f"histogram/{name}", "histogram", (528,), (256,), data, COUNT, "o0")
        for name in ("1_global", "2_private")
        for data in ("b0", "bc")
    ],
]
SETS = {"blind": BLIND, "pipelines": PIPELINES, "ladder": LADDER}
