"""Devices of one's own: their figures, what follows from them, and what is refused."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from warplab.isa.occupancy import l1_bytes, occupancy
from warplab.isa.own_devices import FIELDS, NAMES, SHORT, device_profile, target_part, words_of
from warplab.isa.profiles import PROFILES, DeviceProfile
from warplab.isa.throughput import CLASSES

DEVICE_D = "sm_20,registers=16384,shared_memory=16K"


def test_the_exercises_about_device_d() -> None:
    d = device_profile(DEVICE_D)
    threads = {r: occupancy(d, 512, r, 0).blocks * 512 for r in (10, 11)}
    assert threads == {10: 1536, 11: 1024}
    tiles = occupancy(d, 256, 10, 2048)
    assert tiles.limits["shared memory"] == 8 and tiles.blocks == 6


def test_a_roof_of_one_s_own() -> None:
    d = device_profile("sm_35,bandwidth=200G,peak=1500G")
    assert d.peak_fp32 == pytest.approx(1.5e12) and d.memory_bandwidth == 200_000_000_000 and d.ridge == pytest.approx(7.5)
    assert device_profile("sm_35,f32=96,clock=1G").peak_fp32 == 2 * 96 * 13 * 1e9
    assert device_profile("sm_35,clock=1G").clock_mhz == device_profile("sm_35,clock_mhz=1000").clock_mhz == 1000


@pytest.mark.parametrize("target", PROFILES)
def test_words_make_the_same_device_again(target: str) -> None:
    plain = device_profile(target)
    assert plain is PROFILES[target]
    for name, field in FIELDS.items():
        own = device_profile(f"{target},{name}={field.example}") if _fits(plain, name) else plain
        assert device_profile(own.words or target) == own


def _fits(plain: DeviceProfile, name: str) -> bool:
    """Does the example not contradict what the device has?"""
    return name not in ("registers_per_block", "shared_per_block", "max_block") and plain.max_warps >= 16


def test_limits_follow() -> None:
    d = device_profile("sm_90,shared_memory=64K,max_threads=512")
    assert (d.shared_per_block, d.shared_per_block_optin, d.max_warps, d.max_threads_per_block) == (48 << 10, 63 << 10, 16, 512)
    assert d.shared_configs[-1] == d.shared == 64 << 10
    assert occupancy(d, 512, 32, 48 << 10).blocks == 1
    for target in PROFILES:  # L1 has what is given, whatever the shared memory of the blocks
        assert {l1_bytes(device_profile(f"{target},l1_size=16K"), used, 1) for used in (0, 8192)} == {16 << 10}, target
        assert l1_bytes(device_profile(f"{target},l1_size=0"), 8192, 1) == 0


def test_every_name_is_of_a_field_or_a_class() -> None:
    known = {f.name for f in fields(DeviceProfile)}
    assert set(FIELDS) <= known and set(SHORT.values()) <= set(FIELDS)
    assert set(NAMES) == {"name", "peak", "max_threads", *FIELDS, *SHORT, *CLASSES}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sm_20,regsters=1", "a device has no 'regsters'; did you mean registers or reverse?"),
        ("sm_20,x=1", "a device has no 'x'; it has name multiprocessors"),
        ("sm_20,registers", "'registers' has no value: write a name and a value"),
        ("sm_20,registers=many", "registers=many: write a number, as in registers=16K"),
        ("sm_20,registers=1.5", "registers=1.5: write a number"),
        ("sm_20,registers=16K,registers=8K", "registers is given twice"),
        ("sm_20,shared=16K,shared_memory=8K", "shared_memory is given twice"),
        ("sm_20,bandwidth=200", "write a number from 1,000,000 to"),
        ("sm_20,clock=9e999", "clock=9e999: write a number"),
        ("sm_20,max_grid=1/2", "write 3 numbers with / between them, as in max_grid=65535/65535/1"),
        ("sm_20,shared_per_block=64K", "shared_per_block=65536 is more than shared_per_block_optin=49152"),
        ("sm_90,max_threads=33", "max_threads=33: write a multiple of 32"),
        ("sm_90,max_warps=8,max_threads_per_block=1024", "is more than max_warps=8 hold: 256 threads"),
        ("sm_90,max_block=512/1/1,max_threads_per_block=256", "max_block=512/1/1 has more than max_threads_per_block=256"),
        ("sm_90,memory_latency=800/400", "write the shorter one first"),
        ("sm_90,peak=1T,clock=1G", "peak and clock say the same"),
        ("sm_90,f32=0", "f32=0: write a number from 1 to 65,536"),
        ("sm_9,registers=1", "'sm_9' is not a target"),
        ("device,registers=1", "'device' is not a target; write it as sm_90 or 9.0"),
    ],
)
def test_wrong_words(words: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        device_profile(words)


def test_tables() -> None:
    assert target_part("sm_20:64M,registers=1") == "sm_20"
    assert words_of({"base": "9.0", "memory_latency": [400, 500], "rates": {"f64": 1}}) == "9.0,memory_latency=400/500,f64=1"
    for table, said in (({"registers": 1}, 'base = "sm_20"'), ({"base": "sm_20", "name": "a, b"}, "without a comma")):
        with pytest.raises(ValueError, match=said):
            words_of(table)
