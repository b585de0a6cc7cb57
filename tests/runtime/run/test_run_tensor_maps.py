"""`--tensormap`: what people write becomes tensors and the maps that describe them."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from warplab.isa.tensor_map.descriptor import IM2COL, TensorMap, decode
from warplab.runtime.errors import UsageError
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives, from_text, from_toml

# Stores the second word of a map that comes as an argument, through a pointer, and in a variable.
WORDS = """.version 8.0
.target sm_90
.address_size 64
.const .align 64 .b8 v[128];
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 p, .param .u64 d)
{
    .reg .b64 %a<6>;
    ld.param.u64 %a0, [p];
    ld.param.u64 %a1, [d];
    ld.param.b64 %a2, [m+8];
    st.global.u64 [%a1], %a2;
    ld.b64 %a3, [%a0+8];
    st.global.u64 [%a1+8], %a3;
    ld.const.b64 %a4, [v+8];
    st.global.u64 [%a1+16], %a4;
    ret;
}
"""
ALL = "--arg out:d=u64[3] --tensormap m=f32[4,8] --tensormap p=f16[4,8] --tensormap v=u8[4,16]"

# A copy through shared memory: x in, y out.
COPY = (Path(__file__).parents[1] / "kernels" / "tensor_copy.ptx").read_bytes()


def ran(text: bytes, words: str) -> Runner:
    runner = Runner([text], ["k.ptx"], from_text(words, 1), None)
    runner.run()
    return runner


def described(words: str) -> TensorMap:
    """The map that an option makes."""
    m = decode(
        tuple(
            np.frombuffer(
                ran(WORDS.encode(), f"--tensormap m={words} --tensormap p=f16[4,8] --arg out:d=u64[3]").memory.maps["m"], np.uint64
            ).tolist()
        )
    )
    assert m is not None
    return m


def refusal(words: str) -> str:
    with pytest.raises(UsageError) as e:
        described(words)
    return str(e.value)


def test_a_map_is_the_argument_of_its_name() -> None:
    runner = ran(WORDS.encode(), ALL)
    assert not runner.outcome.failure
    second = [int.from_bytes(runner.memory.maps[name][8:16], "little") for name in "mpv"]
    after = runner.outcome.buffers["d"].after
    assert after is not None and after.tolist() == second and len(set(second)) == 3


def test_axes_stand_in_the_order_of_the_array() -> None:
    m = described("f16[6,4,16],box=3/2/8,step=2/1/1,swizzle=32,fill=nan,l2=128")
    assert (m.type.name, m.dims, m.strides, m.box, m.steps) == ("f16", (16, 4, 6), (32, 128), (8, 2, 3), (1, 1, 2))
    assert (m.swizzle, m.nan_fill, m.promotion) == (32, True, 2)
    assert (
        described("s8[4,16]").type.name == "u8" and described("b32[4,16]").type.name == "u32" and described("s16[4,16]").type.name == "u16"
    )
    assert described("f32[4,16],type=tf32").type.name == "tf32"
    assert described("f32[4,16]").box == (16, 4), "the box is the tensor, where nothing else is said"


def test_windows_and_slices() -> None:
    m = described("f32[8,8],dims=4/4,strides=64,offset=16,box=4/4")
    assert (m.dims, m.strides, m.address % 32) == ((4, 4), (64,), 16)
    m = described("f32[64],dims=3/8,box=2/4")
    assert (m.dims, m.strides, m.box) == ((8, 3), (32,), (4, 2))
    m = described("f16[2,3,5,8],interleave=16,box=1/3/5")
    assert (m.dims, m.strides, m.interleave) == ((5, 3, 2), (80, 240), 16)
    m = described("f16[2,6,7,64],lower=-1/-2,upper=1/0,channels=32,pixels=16")
    assert (m.mode, m.lower, m.upper, m.channels, m.pixels) == (IM2COL, (-2, -1), (0, 1), 32, 16)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("f16[4,9]", "globalStrides[0] is 18 bytes; it must be a multiple of 16"), ("f16[4,8],box=4", "box=4 has 1 numbers"),
        ("f16[4,8],box=4/x", "box=4/x is not a number"), ("f16[4,8],swizzle=48", "swizzle=48: write 0 or 32 or 64 or 128"),
        ("f16[4,128],swizzle=64", "wider than the swizzle of 64"), ("u16[4,8],fill=nan", "NaN can't fill a tensor of u16"),
        ("f16[4,8],boxes=1", "no option is called 'boxes'"), ("f16[4,8],type=f8", "tensors are not made of f8"),
        ("f16[4,4,8],interleave=32", "the last axis has 32 bytes, not 16"), ("f16[512,8]", "boxDim[1] is 512; 1 to 256 are allowed"),
        ("3", "3 is not an array"), ("nothing", "no buffer is called nothing"), ("f16[1,1,1,1,1,8]", "rank 6"),
    ],
)  # fmt: skip
def test_refusals(words: str, why: str) -> None:
    assert why in refusal(words)


def test_names() -> None:
    with pytest.raises(UsageError, match="there is one of this name already"):
        ran(WORDS.encode(), f"{ALL} --tensormap m=p")
    with pytest.raises(UsageError, match="expected NAME=VALUE"):
        ran(WORDS.encode(), "--tensormap m")
    with pytest.raises(UsageError, match="parameter m has 4 bytes; a tensor map has 128"):
        ran(WORDS.replace(".align 64 .b8 m[128]", ".u32 m").replace("[m+8]", "[p]").encode(), ALL)
    with pytest.raises(UsageError, match="has 128 bytes by value, the array has 64: --tensormap"):
        ran(COPY, "--arg x=u8[64] --arg y=u8[64]")
    with pytest.raises(UsageError, match="a device has tensor maps since sm_90"):
        ran(COPY, "--device sm_80 --device-rules-only --tensormap x=f16[96,64] --tensormap y=x")
    with pytest.raises(UsageError, match="the variable has 64 bytes"):
        ran(WORDS.replace("v[128]", "v[64]").encode(), ALL)


@pytest.mark.parametrize("seed", ["", "--schedule 1", "--schedule 2", "--schedule 3"])
def test_a_tensor_is_copied(seed: str) -> None:
    tensors = "--tensormap x=f16[96,64]:arange,box=32/64,swizzle=128 --tensormap out:y=f16[96,64],box=32/64,swizzle=128"
    runner = ran(COPY, f'--grid 3 --block 32 {tensors} {seed} --expect "y == x"')
    assert runner.outcome.code == 0 and not runner.outcome.mismatches and runner.outcome.checked == 1


def test_a_map_may_be_another_ones_tensor() -> None:
    runner = ran(
        COPY, '--grid 3 --block 32 --tensormap inout:y=f16[96,64]:arange,box=32/64 --tensormap x=y,box=32/64 --expect "y == before(y)"'
    )
    assert runner.outcome.code == 0 and set(runner.outcome.buffers) == {"y"}


def test_a_launch_file_has_a_table_for_them(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text(
        """
expect = ["y == x"]
[buffers]
x = "f16[96,64]:arange"
[tensormap]
x = "x,box=32/64"
y = "f16[96,64],box=32/64"
[[launch]]
grid = 3
block = 32
"""
    )
    (spec,) = from_toml(tmp_path / "k.toml")
    outcome = Runner([COPY], ["k.ptx"], spec, tmp_path).run()
    assert outcome.code == 0 and outcome.checked == 1


def test_a_freed_tensor_is_named(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text(
        """
tensormap = {x = "f16[96,64]:arange,box=32/64", y = "f16[96,64],box=32/64"}
launch = [{free = "x"}, {grid = 3, block = 32}]
"""
    )
    (spec,) = from_toml(tmp_path / "k.toml")
    outcome = Runner([COPY], ["k.ptx"], spec, tmp_path).run()
    assert (outcome.code, outcome.error) == (4, "CUDA_ERROR_ILLEGAL_ADDRESS")
    assert "freed" in outcome.failure and "cp.async.bulk.tensor.2d" in outcome.failure


@pytest.mark.parametrize("seed", range(6))
def test_a_pipeline_gives_the_same_under_any_schedule(seed: int) -> None:
    path = Path(__file__).parents[3] / "samples" / "tma_matmul.ptx"
    (spec,) = directives(path.read_text())
    outcome = Runner([path.read_bytes()], [path.name], dataclasses.replace(spec, schedule=seed), None).run()
    assert outcome.code == 0 and outcome.checked == 1


def test_the_bytes_of_a_map_may_be_given() -> None:
    """A structure by value is an array of its size: zeros are not a map."""
    runner = ran(COPY, "--block 32 --arg x=u8[128] --arg y=u8[128]")
    assert runner.outcome.error == "CUDA_ERROR_ILLEGAL_INSTRUCTION" and "are all zero" in runner.outcome.failure
