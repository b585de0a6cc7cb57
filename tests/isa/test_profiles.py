"""Device profiles: the guide's tables, the H200's recorded attributes, and every spelling of a target."""

from itertools import pairwise

import pytest

from warplab.isa.profiles import FEATURES, NEWEST, PROFILES, profile, profile_note

KIB = 1024
CAPABILITIES = [
    "1.0",
    "1.1",
    "1.2",
    "1.3",
    "2.0",
    "2.1",
    "3.0",
    "3.2",
    "3.5",
    "3.7",
    "5.0",
    "5.2",
    "5.3",
    "6.0",
    "6.1",
    "6.2",
    "7.0",
    "7.2",
    "7.5",
    "8.0",
    "8.6",
    "8.7",
    "8.9",
    "9.0",
]

# Table F-2 of the guide 4.2 and its successors: blocks, warps, threads, registers, shared memory of one multiprocessor.
RESIDENT = {
    "1.0": (8, 24, 768, 8 * KIB, 16 * KIB),
    "1.3": (8, 32, 1024, 16 * KIB, 16 * KIB),
    "2.0": (8, 48, 1536, 32 * KIB, 48 * KIB),
    "3.0": (16, 64, 2048, 64 * KIB, 48 * KIB),
    "3.7": (16, 64, 2048, 128 * KIB, 112 * KIB),
    "5.2": (32, 64, 2048, 64 * KIB, 96 * KIB),
    "6.0": (32, 64, 2048, 64 * KIB, 64 * KIB),
    "7.0": (32, 64, 2048, 64 * KIB, 96 * KIB),
    "7.5": (16, 32, 1024, 64 * KIB, 64 * KIB),
    "8.0": (32, 64, 2048, 64 * KIB, 164 * KIB),
    "8.6": (16, 48, 1536, 64 * KIB, 100 * KIB),
    "8.9": (24, 48, 1536, 64 * KIB, 100 * KIB),
    "9.0": (32, 64, 2048, 64 * KIB, 228 * KIB),
}

# Vendor's single-precision peaks in TFLOP/s, to the digits that are published.
PEAKS = {"1.0": 0.346, "2.0": 1.03, "3.0": 3.09, "3.5": 3.52, "6.0": 10.6, "7.0": 15.7, "7.5": 8.1, "8.0": 19.5, "9.0": 66.9}


def test_one_row_a_capability() -> None:
    assert [f"{row.capability[0]}.{row.capability[1]}" for row in PROFILES.values()] == CAPABILITIES
    assert list(PROFILES) == [row.name for row in PROFILES.values()]


@pytest.mark.parametrize("target", RESIDENT)
def test_residency(target: str) -> None:
    row = profile(target)
    assert (row.max_blocks, row.max_warps, row.max_threads, row.registers, row.shared) == RESIDENT[target]


def test_the_h200_as_recorded() -> None:
    row = profile("sm_90a")
    assert (row.device, row.multiprocessors, row.clock_mhz, row.l2_cache) == ("H200", 132, 1980, 62914560)
    assert (row.shared, row.shared_per_block, row.shared_per_block_optin) == (233472, 49152, 232448)
    assert (row.shared_reserved_per_block, row.registers_per_block, row.constant_memory) == (1024, 65536, 65536)
    assert (row.max_grid, row.max_block) == ((2147483647, 65535, 65535), (1024, 1024, 64))
    assert row.memory_bandwidth == 4_814_304_000_000


def test_launch_limits_grow() -> None:
    assert profile("1.3").max_grid == (65535, 65535, 1) and profile("1.3").max_threads_per_block == 512
    assert profile("2.1").max_grid == (65535, 65535, 65535) and profile("2.1").max_threads_per_block == 1024
    assert profile("3.0").max_grid[0] == 2**31 - 1
    assert [profile(t).max_registers_per_thread for t in ("1.0", "2.0", "3.0", "3.5")] == [128, 63, 63, 255]
    assert [profile(t).local_per_thread for t in ("1.0", "2.0")] == [16 * KIB, 512 * KIB]


@pytest.mark.parametrize("target", PEAKS)
def test_peaks(target: str) -> None:
    assert profile(target).peak_fp32 / 1e12 == pytest.approx(PEAKS[target], rel=0.01)


def test_ridge_of_the_a100() -> None:
    assert round(profile("sm_80").ridge) == 13


def test_rows_agree_with_themselves() -> None:
    for row in PROFILES.values():
        assert row.shared_per_block <= row.shared_per_block_optin <= row.shared
        assert row.shared_per_block_optin + row.shared_reserved_per_block <= row.shared
        assert max(row.shared_configs) == row.shared
        assert row.registers_per_block <= row.registers
        assert row.max_warps % row.warp_granularity == 0
        assert 0 <= row.l1_size <= row.l1_and_shared
        assert row.warps_per_latency_clock > 0 and row.barrier_throughput > 0


def test_features_only_grow() -> None:
    rows = list(PROFILES.values())
    for older, newer in pairwise(rows):
        assert older.features <= newer.features
    assert not profile("1.0").features
    assert profile("1.1").features == {"atomics_global"}
    assert profile("sm_90").features == set(FEATURES)
    assert profile("6.1").has("dp4a") and not profile("6.0").has("dp4a")


@pytest.mark.parametrize(("name", "row"), [("sm_35", "sm_35"), ("compute_70", "sm_70"), ("8.6", "sm_86"), ("sm_90a", "sm_90")])
def test_spellings(name: str, row: str) -> None:
    assert profile(name).name == row
    assert profile_note(name) is None


@pytest.mark.parametrize("name", ["sm_100", "sm_100a", "sm_100f", "sm_103", "sm_110a", "sm_120", "sm_121f", "12.0"])
def test_newer_targets_get_the_newest_row_and_a_note(name: str) -> None:
    assert profile(name) is NEWEST
    note = profile_note(name)
    assert note is not None and "sm_90" in note


def test_a_target_between_two_rows_gets_the_older() -> None:
    assert profile("sm_88").name == "sm_87"
    assert profile_note("sm_88") is not None


@pytest.mark.parametrize("name", ["", "sm_", "hopper", "sm_9x", "0.9", "sm_90b"])
def test_what_is_no_target(name: str) -> None:
    with pytest.raises(ValueError, match=r"target|older"):
        profile(name)
