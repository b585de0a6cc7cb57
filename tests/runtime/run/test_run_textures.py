"""`--tex` and `--surf`: what people write becomes textures and surfaces of a run."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from warplab.isa.textures.resources import Surface, Texture
from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.run.inputs.png import write_png
from warplab.runtime.run.inputs.resources import halved
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import from_text, from_toml

HANDLES = """.version 8.0
.target sm_90
.address_size 64
.global .texref tv;
.global .surfref sv;
.visible .entry k(.param .u64 img, .param .u64 d)
{
    .reg .b64 %a<2>;
    ld.param.u64 %a0, [img];
    ld.param.u64 %a1, [d];
    st.global.u64 [%a1], %a0;
    ret;
}
"""


def ran(words: str, folder: Path | None = None) -> Runner:
    """A run of the kernel that stores its handle."""
    runner = Runner([HANDLES.encode()], ["k.ptx"], from_text(f"--arg out:d=u64[1] {words}", 1), folder)
    outcome = runner.run()
    assert not outcome.failure and not outcome.mismatches, (outcome.failure, outcome.mismatches)
    return runner


def texture(runner: Runner, handle: int = 1) -> Texture:
    found = runner.context.resources.get(handle)
    assert isinstance(found, Texture)
    return found


def test_a_texture_is_the_argument_of_its_name() -> None:
    r = ran(
        '--tex img=u8[4,6]:arange,filter=linear,address=wrap/mirror,normalized,border=1/0.5,anisotropy=4 --expect "d == 1" --expect "img[1, 2] == 8"'
    )
    image, s = texture(r).image, texture(r).sampler
    assert (image.width, image.height, image.depth) == (6, 4, 0)
    assert np.array_equal(image.levels[0].ravel(), np.arange(24))
    assert (s.address, s.filter, s.normalized, s.integer, s.border) == (("wrap", "mirror", "mirror"), "linear", True, False, (1, 0.5, 0, 0))
    assert texture(ran("--tex img=u8[4,6]")).sampler.integer, "without a blend integers stay integers"
    assert not texture(ran("--tex img=u8[4,6],read=float")).sampler.integer
    assert ran('--tex other=f32[4] --arg other --expect "d == 1"').outcome.buffers["other"].texels is not None


def test_a_handle_may_be_given() -> None:
    r = ran("--tex other=f32[4],handle=7 --arg 3 --surf image=f32[4],handle=9")
    assert texture(r, 7).image.width == 4 and isinstance(r.context.resources.get(9), Surface)
    with pytest.raises(UsageError, match="another object has the handle 7"):
        ran("--tex img=f32[4],handle=7 --surf image=f32[4],handle=7")


@pytest.mark.parametrize(
    ("value", "extent", "layered", "cube"),
    [
        ("f32[5]", (5, 0, 0), False, False), ("f32[3,5]", (5, 3, 0), False, False), ("f32[2,3,5]", (5, 3, 2), False, False),
        ("f32[3,5],layered", (5, 0, 3), True, False), ("f32[2,3,5],layered", (5, 3, 2), True, False), ("f32[6,4,4],cube", (4, 4, 6), False, True),
        ("f32[12,4,4],cube", (4, 4, 12), True, True), ("f32[3,5,2],channels=2", (5, 3, 0), False, False),
    ],
)  # fmt: skip
def test_shapes(value: str, extent: tuple[int, int, int], layered: bool, cube: bool) -> None:
    image = texture(ran(f"--tex img={value}")).image
    assert ((image.width, image.height, image.depth), image.layered, image.cube) == (extent, layered, cube)


def test_levels_are_means() -> None:
    r = ran("--tex img=f32[4,6]:arange,levels=all,mip=linear")
    image = texture(r).image
    assert [level.shape[1:3] for level in image.levels] == [(4, 6), (2, 3), (1, 1)] and texture(r).sampler.clamp == (0.0, 2.0)
    assert image.levels[1][0, 0, 0, 0] == (0 + 1 + 6 + 7) / 4
    bytes_ = np.array([[[[1], [2], [9]], [[2], [2], [9]]]], np.uint8)
    assert halved(bytes_, True).tolist() == [[[[2]]]], "rounded; what is odd drops out"
    planes = np.arange(8, dtype=np.float32).reshape(2, 2, 2, 1)
    assert halved(planes, True).ravel().tolist() == [3.5] and halved(planes, False).ravel().tolist() == [1.5, 5.5]


@given(st.tuples(*[st.integers(1, 6)] * 3), st.booleans(), st.sampled_from(["u1", "i2", "f4"]), st.integers(0, 1 << 30))
def test_a_level_against_texels_one_at_a_time(sides: tuple[int, int, int], planes: bool, dtype: str, seed: int) -> None:
    texels = np.random.default_rng(seed).integers(0, 200, (*sides, 2)).astype(dtype)
    got = halved(texels, planes)
    step = [2 if n > 1 else 1 for n in sides]
    step[0] = step[0] if planes else 1
    assert got.shape == (*(n // k for n, k in zip(sides, step, strict=True)), 2)
    for z, y, x, c in np.ndindex(got.shape):
        part = texels[(*(slice(at * k, at * k + k) for at, k in zip((z, y, x), step, strict=True)), c)].astype(float)
        mean = part.mean()
        assert got[z, y, x, c] == (np.floor(mean + 0.5) if dtype != "f4" else mean)


def test_pictures_and_what_shares_them(tmp_path: Path) -> None:
    rgb = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    (tmp_path / "p.png").write_bytes(write_png(rgb))
    r = ran("--tex img=@p.png --surf sv=img --tex tv=sv,filter=linear", tmp_path)
    image = texture(r).image
    assert image.format.channels == 4 and image.levels[0][0, 1, 2].tolist() == [15, 16, 17, 255]
    assert np.array_equal(r.outcome.buffers["sv"].before, r.outcome.buffers["img"].before)
    bound = r.context.resources.references.values()
    assert {type(b.bound) for b in bound} == {Texture, Surface}
    assert all(b.bound is not None and np.shares_memory(b.bound.image.levels[0], image.levels[0]) for b in bound)
    r = ran('--tex img=f32[8,8],levels=3 --surf sv=img,level=2 --expect "sv.shape == (2, 2)"')
    assert r.outcome.buffers["sv"].before.shape == (2, 2)


def test_memory_as_a_texture() -> None:
    image = texture(ran('--tex img=f32[5]:arange,memory --expect "img == [0, 1, 2, 3, 4]"')).image
    assert image.linear and image.width == 5
    image = texture(ran('--tex img=f32:2,3:arange,filter=linear --expect "img[1, 2] == 5"')).image
    assert (image.width, image.height) == (3, 2)
    image = texture(ran('--tex img=u8[3,5,4]:arange,channels=4,memory --expect "img[2, 4, 3] == 59"')).image
    assert (image.linear, image.width, image.height, image.levels[0].strides[1]) == (False, 5, 3, 32)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--tex img", "expected NAME=VALUE"), ("--tex 1=f32[2]", "expected NAME=VALUE"), ("--tex img=f64[4]", "not made of f64"),
        ("--tex img=f32[4],levels=4", "1 to 3"), ("--tex img=f32[4],levels=x", "not a number"), ("--tex img=u8[4,3],channels=3", "1, 2 or 4"),
        ("--tex img=u8[4,3],channels=2", "last axis"), ("--tex img=f32[2,2,2,2]", "4 dimensions"), ("--tex img=f32[4],colour", "no option is called 'colour'"),
        ("--tex img=f32[4],filter=cubic", "write point or linear"), ("--tex img=f32[4],address=tile", "wrap or clamp or mirror or border"),
        ("--tex img=f32[4],border=red", "not a number"), ("--tex img=f32[4],clamp=1/2/3", "two ends"), ("--tex img=f32[4],layered", "first axis"),
        ("--tex img=f32[5,4,4],cube", "six square faces"), ("--tex img=other", "no texture or surface before it is called other"),
        ("--tex img=f32[4] --tex img=f32[4]", "of this name|same name"), ("--tex img=7", "is not an array"), ("--tex img=@no.npy", "files may not be read"),
        ("--tex img=f32[4],memory --surf sv=img", "is memory"), ("--tex img=f32[4] --surf sv=img,level=1", "has 1"),
        ("--tex img=f32[4] --tex tv=img,channels=2", "settled by img"), ("--tex img=f32[4,4,4],memory", "line or rows"),
        ("--tex img=f32[4] --tex sv=f32[4]", "use --surf"), ("--tex img=f32[4] --tex lost=f32[4]", "pass it with --arg lost"),
        ("--tex img=f32[0]", "no elements"), ("--tex img=f32[4],normalized=1", "normalized has no value"), ("--tex img=f32[4],filter", "filter needs a value"),
        ("--tex img=f32[4],filter=point,filter=linear", "filter is given twice"), ("--surf sv=u8[4],level=0", "write its name as the value"),
        ("--tex img=f32:2,2,filtr=linear", "did you mean filter?"),
    ],
)  # fmt: skip
def test_what_is_refused(words: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ran(words)


def test_a_launch_file_names_them(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text(
        '[tex]\nimg = "f32[2,2]:arange,filter=linear"\n[surf]\nsv = "u8[4]"\n[[launch]]\nkernel = "k"\nargs = ["out:d=u64[1]"]\n'
    )
    (spec,) = from_toml(tmp_path / "k.toml")
    runner = Runner([HANDLES.encode()], ["k.ptx"], spec, tmp_path)
    runner.run()
    assert texture(runner, 2).sampler.filter == "linear"


def test_the_command_line_writes_pictures(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(HANDLES)
    out = tmp_path / "img.png"
    given = [
        "run",
        str(file),
        "--tex",
        "img=u8[2,3]:arange",
        "--arg",
        "out:d=u64[1]",
        "--dump",
        str(out),
        "--dump",
        f"img={tmp_path / 'x.npy'}",
    ]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    again = CliRunner().invoke(
        main, ["run", str(file), "--tex", "img=@img.png", "--arg", "out:d=u64[1]", "--expect", "img == [[0, 1, 2], [3, 4, 5]]"]
    )
    assert "1 check passed" in again.output
    assert np.load(tmp_path / "x.npy").shape == (2, 3)
    wrong = CliRunner().invoke(main, [*given[:-4], "--dump", "img=picture.bmp"])
    assert wrong.exit_code == 2 and "NAME=FILE.png" in wrong.output


OPAQUE = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .texref t, .param .surfref s, .param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %i, %x, %r<5>;
    .reg .b64 %o;
    ld.param.u64 %o, [out];
    mov.u32 %i, %tid.x;
    mov.b32 %x, 3;
    setp.ne.u32 %p, %i, 2;
    tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [t, {%i, %x}];
    @%p sust.p.1d.b32.trap [s, {%i}], %r0;
    suq.width.b32 %r4, [s];
    st.global.u32 [%o], %r4;
    ret;
}
"""


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_parameters_may_be_handles(engine: str, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(OPAQUE)
    words = ["--tex", "t=u32[4,4]:arange", "--surf", "s=u32[4]", "--arg", "out:out=u32[1]", "--block", "4"]
    found = CliRunner().invoke(main, ["run", str(tmp_path / "k.ptx"), *words, "--engine", engine])
    assert found.exit_code == 0, found.output
    assert "s = [12, 13, 0, 15]" in found.output and "out = [4]" in found.output
