"""Residency: every recorded row of the H200's driver, the guide's examples, limiters, steps and latency hiding."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from warplab.isa.occupancy import (
    ResourceStep,
    block_limits,
    l1_bytes,
    max_registers,
    occupancy,
    waves,
)
from warplab.isa.profiles import PROFILES, profile

RECORDED = json.loads((Path(__file__).parents[1] / "data/memory/occupancy.json").read_text())
H200 = profile("sm_90")


def test_every_recorded_row() -> None:
    for registers, static, threads, dynamic, blocks in RECORDED["rows"]:
        assert min(block_limits(H200, threads, registers, static + dynamic).values()) == blocks, (
            registers,
            static,
            threads,
            dynamic,
        )


def test_every_recorded_launch() -> None:
    for registers, shared, threads, limit, barriers, blocks in RECORDED["launches"]:
        got = block_limits(H200, threads, registers, shared, shared_limit=limit, barriers=barriers)
        assert min(got.values()) == blocks, (registers, shared, threads)


def test_the_17th_register_costs_a_block() -> None:
    now = occupancy(profile("1.2"), 512, 16, 0)
    assert (now.blocks, now.warps, now.fraction) == (2, 32, 1.0)
    assert now.limiters == ("warps", "registers")
    assert now.sentences[0] == "at 17 registers per thread, one resident block fewer"
    after = occupancy(profile("1.2"), 512, 17, 0)
    assert (after.blocks, after.limiters) == (1, ("registers",))
    assert ResourceStep("registers", 16, 2) in after.gains
    assert "at 16 registers per thread, one resident block more" in after.sentences


def test_the_guides_examples() -> None:
    assert occupancy(profile("1.0"), 64, 8, 2048).blocks == 8  # 16 KB hold eight blocks of 2 KB
    assert occupancy(profile("1.0"), 16 * 16, 10, 0).blocks == 3  # 768 threads
    assert max_registers(profile("1.0"), 256, 3) == 10
    small = replace(profile("2.0"), registers=16384, registers_per_block=16384)
    assert max_registers(small, 192, 8) == 10  # 1536 threads share 16384 registers
    assert max_registers(profile("2.0"), 192, 8) == 20  # 32768 over 1536 threads is 21; registers come in units of 64 a warp


def test_registers_are_rounded_by_block_on_1_x_and_by_warp_later() -> None:
    assert block_limits(profile("1.0"), 96, 10, 0)["registers"] == 8192 // 1280  # three warps count as four
    assert block_limits(profile("3.0"), 96, 33, 0)["registers"] == 65536 // 4 // 1280 * 4 // 3
    assert block_limits(profile("2.0"), 32, 63, 0)["registers"] == 32768 // 2 // 2048 * 2


def test_what_cannot_be_launched_has_no_block() -> None:
    assert occupancy(H200, 2048, 16, 0).blocks == 0
    assert occupancy(H200, 768, 168, 0).blocks == 0
    assert occupancy(H200, 32, 16, 65536, shared_limit=49152).limiters == ("shared memory",)
    assert occupancy(profile("3.0"), 32, 64, 0).blocks == 0
    assert occupancy(profile("9.0"), 64, 18, 256, barriers=16).limiters == ("barriers",)


@pytest.mark.parametrize("target", PROFILES)
def test_steps_are_where_the_number_of_blocks_changes(target: str) -> None:
    device = PROFILES[target]
    for threads, registers, shared in ((64, 20, 3000), (256, 32, 0), (96, 17, 8192), (512, 16, 12000)):
        now = occupancy(device, threads, registers, shared)
        for step in (*now.costs, *now.gains):
            values = {"registers": registers, "shared memory": shared, "warps": threads}
            toward = -1 if step.value > values[step.resource] else 1
            reached = [{**values, step.resource: value} for value in (step.value, step.value + toward)]
            blocks = [min(block_limits(device, v["warps"], v["registers"], v["shared memory"]).values()) for v in reached]

            assert blocks == [step.blocks, now.blocks]
            assert step.blocks != now.blocks


def test_what_shared_memory_leaves_to_l1() -> None:
    measured = {0: 224, 16384: 28, 65536: 60, 131072: 124}  # KB, of one-warp blocks on the H200
    for shared, kilobytes in measured.items():
        assert l1_bytes(H200, shared, occupancy(H200, 32, 16, shared).blocks) == kilobytes * 1024
    assert l1_bytes(profile("2.0"), 4096, 8) == 16 * 1024
    assert l1_bytes(profile("2.0"), 1024, 8) == 16 * 1024
    assert l1_bytes(profile("3.0"), 4096, 8) == 16 * 1024
    assert l1_bytes(profile("5.2"), 4096, 8) == 48 * 1024
    assert l1_bytes(profile("1.3"), 4096, 4) == 0


def test_waves_have_tails() -> None:
    assert waves(H200, 132 * 8, 8) == 1.0
    assert waves(H200, 132 * 2 + 66, 1) == 2.5
