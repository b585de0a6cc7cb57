"""Launches of the everyday kernels on images, dense matrices, sums, particles and what else is arithmetic.

Each theme has the name of its file in everyday/.  Sizes are mostly no multiple of a block, as in earnest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.bench.everyday_data import Draft, Random, cells, draft, floats, lines, plane, sides
from tests.interpreter.harness import Array


def images(threads: int, rng: Random) -> Iterator[Draft]:
    """Grids and images, some of odd sizes."""
    width, height = sides(threads)
    w, h = width - 3, height - 1
    photo = np.clip(rng.normal(120, 40, (h, w)), 0, 255).astype(np.uint8)
    yield plane("heat_2d", width, height, width, height, 0.2, floats(rng, height, width), np.zeros((height, width), np.float32))
    layers = 8
    solid = floats(rng, layers, height, width)
    yield plane("stencil_3d", width, height, width, height, layers, solid, np.zeros_like(solid), block=(32, 4))
    blocks = -(-width // 16) * -(-height // 16)
    grid = rng.random((height, width))
    yield plane("jacobi", width, height, width, height, rng.random((height, width)), grid, grid.copy(), np.zeros(blocks))
    yield plane("sobel", w, h, w, h, photo, np.zeros_like(photo))
    yield lines("invert_u8", photo.size, photo.size, photo)
    n = threads - 77
    yield lines("scale_u16", n, n, 1.3, rng.integers(0, 1 << 16, n, np.uint16), np.zeros(n, np.uint16))
    yield lines("rgb_to_gray", n, n, rng.integers(0, 256, (n, 3), np.uint8), np.zeros(n, np.uint8))
    yield plane(
        "resize_bilinear",
        width,
        height,
        width,
        height,
        w // 3,
        h // 3,
        photo[: h // 3, : w // 3].copy(),
        np.zeros((height, width), np.uint8),
    )
    yield lines("box_rows", n, 20, n, 3, floats(rng, n, 20), np.zeros((n, 20), np.float32), block=128)
    many = np.clip(rng.normal(120, 40, 2 * threads - 11), 0, 255).astype(np.uint8)
    yield lines("histogram_shared", threads, many.size, many, np.zeros(256, np.uint32))
    yield plane("convolve_tile", w, h, w, h, floats(rng, h, w), np.zeros((h, w), np.float32))
    yield plane("transpose_naive", w, h, w, h, floats(rng, h, w), np.zeros((w, h), np.float32), block=(32, 8))
    wide, high = sides(4 * threads)
    turned = wide, high, floats(rng, high, wide), np.zeros((wide, high), np.float32)
    yield draft("transpose_tiled", (wide // 32, high // 32), (32, 8), *turned)
    yield plane("game_of_life", w, h, w, h, (rng.random((h, w)) < 0.3).astype(np.uint8), np.zeros((h, w), np.uint8), block=(32, 8))


def dense(threads: int, rng: Random) -> Iterator[Draft]:
    """Matrices and layers."""
    width, height = sides(threads)
    deep = 32
    a, b = floats(rng, height, deep), floats(rng, deep, width)
    result = np.zeros((height, width), np.float32)
    yield plane("matmul_naive", width, height, height, width, deep, a, b, result)
    yield plane("matmul_tiled", width, height, width, deep, a, b, result)
    n, rows = threads - 40, threads // 32
    yield lines("softmax_row", n, n, 8, floats(rng, n, 8), np.zeros((n, 8), np.float32))
    logits = floats(rng, rows, 90)
    yield draft("softmax_warp", (-(-rows // 8),), (32, 8), rows, 90, logits, np.zeros_like(logits))
    x = floats(rng, threads // 128, 250)
    yield draft("layer_norm", (x.shape[0],), (128,), 250, x, floats(rng, 250), floats(rng, 250), np.zeros_like(x))
    tokens = np.minimum(rng.zipf(1.4, rows), 5000).astype(np.int32)
    yield draft("embedding", (rows // 8,), (32, 8), 32, tokens, floats(rng, 5001, 32), np.zeros((rows, 32), np.float32))
    yield lines("max_pool", threads, threads, 32, 32, floats(rng, 4 * threads), np.zeros(threads, np.float32))
    w, h = sides(threads // 4)
    layers = 3, w, h, floats(rng, 3, h, w), floats(rng, 4, 3, 3, 3), floats(rng, 4), np.zeros((4, h, w), np.float32)
    yield plane("conv2d", w, h, *layers, layers=4)
    yield plane("attention_scores", width, height, height, width, 16, floats(rng, height, 16), floats(rng, width, 16), result)
    yield lines("gemv", n, n, 12, rng.random((n, 12)), rng.random(12), rng.random(n))
    norm = (rng.random(48, np.float32) for _ in range(4))
    yield lines("batch_norm", n, n, 196, 48, floats(rng, n), *norm)
    yield lines("argmax", 32 * rows, rows, 90, logits, np.zeros(rows, np.int32))
    yield lines("top_k", n, n, 10, floats(rng, n, 10), np.zeros((n, 4), np.float32), np.zeros((n, 4), np.uint8))
    scale = rng.random(n // 64 + 1, np.float32) / 40 + np.float32(0.01)
    yield lines("quantize", n, n, 64, floats(rng, n), scale, np.zeros(n, np.int8))
    half = floats(rng, n).astype(np.float16), floats(rng, 80).astype(np.float16), np.zeros(n, np.float16)
    yield lines("bias_gelu", n, n, 80, *half)


def scans(threads: int, rng: Random) -> Iterator[Draft]:
    """Sums, and what is kept."""
    n = threads - 60
    numbers, values = rng.integers(0, 100, n, np.int32), floats(rng, n)
    yield lines("block_scan", n, n, numbers, np.zeros(n, np.int32), np.zeros(-(-n // 256), np.int32))
    total = np.zeros(1, np.float32)
    yield lines("reduce_shuffle", threads, 4 * threads - 9, floats(rng, 4 * threads - 9), total)
    segment = np.sort(rng.integers(0, n // 12, n, np.int32))
    yield lines("segmented_sum", n, n, segment, values, np.zeros(n // 12, np.float32))
    kept, count = np.zeros(n, np.float32), np.zeros(1, np.int32)
    yield lines("compact_atomic", n, n, values, kept, count)
    yield lines("compact_warp", n, n, values, kept, count)
    before: Array = (np.cumsum(values > 0) - (values > 0)).astype(np.int32)
    yield lines("compact_scanned", n, n, values, before, kept)
    yield lines("histogram_global", n, n, 200, -4.0, 4.0, values, np.zeros(200, np.uint32))
    size = 3 * threads + 5
    yield lines("dot", threads, size, rng.random(size), rng.random(size), np.zeros(threads // 256))
    yield lines("min_max", n, n, rng.integers(0, 1 << 30, n, np.int32), np.full(1, 1 << 30, np.int32), np.zeros(1, np.int32))
    yield lines("column_sums", n, n, 12, floats(rng, 12, n), np.zeros(n, np.float32))


def physics(threads: int, rng: Random) -> Iterator[Draft]:
    """Particles and structures."""
    n = threads - 30
    yield lines("n_body", n, n, 12, 0.01, np.abs(floats(rng, n, 4)), floats(rng, n, 4), block=128)
    particle = floats(rng, n, 8)
    particle[:, 7] = (rng.random(n) < 0.9).astype(np.int32).view(np.float32)
    yield lines("particles_aos", n, n, 0.01, particle)
    yield lines("particles_soa", n, n, 0.01, *(floats(rng, n) for _ in range(6)))
    side, place, cell_start = cells(n, rng)
    yield lines("cell_list", n, n, side, place, cell_start, np.zeros(n, np.int32))
    yield lines("monte_carlo_pi", threads, 16, np.uint32(1234), np.zeros(1, np.uint32))
    around = floats(rng, 6, 4)
    point = around[rng.integers(0, 6, n)] + np.float32(0.5) * floats(rng, n, 4)
    yield lines("k_means", n, n, 6, point, around, np.zeros(n, np.int32))
    yield lines("matrix_structs", n, n, floats(rng, n, 12), block=128)
    order = np.zeros(n, np.dtype([("kind", "i1"), ("count", "<i2"), ("customer", "<i4"), ("price", "<f8"), ("total", "<f4")], align=True))
    order["kind"], order["count"], order["price"] = rng.integers(0, 4, n), rng.integers(1, 20, n), 100 * rng.random(n)
    yield lines("mixed_fields", n, n, order)


def simulation(threads: int, rng: Random) -> Iterator[Draft]:
    """Pictures, waves and prices."""
    width, height = sides(threads)
    w, h = width - 5, height - 2
    spheres = np.concatenate([2 * floats(rng, 6, 2), 4 + 6 * rng.random((6, 1)), 0.5 + rng.random((6, 1))], axis=1).astype(np.float32)
    yield plane("ray_sphere", w, h, w, h, 6, spheres, np.zeros((h, w), np.float32), np.zeros((h, w), np.uint8))
    yield plane("mandelbrot", w, h, w, h, 40, np.zeros((h, w), np.uint8))
    turn = np.exp(-1j * np.pi * np.arange(threads) / threads).astype(np.complex64)
    wave = floats(rng, 2 * threads, 2)
    yield lines("fft_step", threads, threads, 16, turn, wave)
    yield lines("bit_reverse", threads, threads.bit_length() - 1, wave[:threads].copy(), np.zeros((threads, 2), np.float32))
    n = threads - 90
    market = (low + high * rng.random(n, np.float32) for low, high in ((80, 40), (80, 40), (np.float32(0.1), 2)))
    yield lines("black_scholes", n, n, 0.02, 0.3, *market, np.zeros(n, np.float32), np.zeros(n, np.float32))
    yield lines("wave_1d", n, n, 0.25, floats(rng, n), floats(rng, n))
    yield lines("random_walk", n, n, 8, rng.integers(1, 1 << 62, n, np.uint64), np.zeros((n, 2), np.int32))
    yield plane("floyd_warshall", width, height, width, height, 5, rng.integers(0, 100, (width, width), np.int32), block=(32, 8))
