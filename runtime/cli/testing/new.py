"""`warplab new`: a working skeleton of a lab or of a test."""

from __future__ import annotations

from pathlib import Path

import click

KERNEL = """\
.version 7.0
.target sm_70
.address_size 64

.visible .entry {name}(
    .param .u64 x,
    .param .u64 out,
    .param .u32 n
)
{{
    .reg .pred  %p;
    .reg .b32   %t, %b, %width, %i, %n;
    .reg .f32   %v;
    .reg .b64   %x, %out;

    mov.u32         %t, %tid.x;
    mov.u32         %b, %ctaid.x;
    mov.u32         %width, %ntid.x;
    mad.lo.u32      %i, %b, %width, %t;
    ld.param.u32    %n, [n];
    setp.ge.u32     %p, %i, %n;
    @%p bra         done;

    ld.param.u64    %x, [x];
    ld.param.u64    %out, [out];
    cvta.to.global.u64 %x, %x;
    cvta.to.global.u64 %out, %out;
    mad.wide.u32    %x, %i, 4, %x;
    mad.wide.u32    %out, %i, 4, %out;
    ld.global.f32   %v, [%x];
{body}    st.global.f32   [%out], %v;
done:
    ret;
}}
"""
CPP_KERNEL = """\
__global__ void {name}(const float *x, float *out, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
{body}    out[i] = v;
}}
"""
CPP_TWICE = "    v += v;\n"
TWICE = "    add.f32         %v, %v, %v;\n"
RUN = '--grid 4 --block 64 --arg x=f32[200]:arange --arg out:out=f32[200] --arg n=200 --expect "out == 2 * x"'
LAB = """\
title = "{title}"

[limits]
steps = 1000000
seconds = 10

[[test]]
name = "assembles"
points = 1
assembles = true

[[test]]
name = "200 numbers"
points = 4
run = '{run}'
hint = "What should become of a number before it is stored?"

[[test]]
name = "loads follow rows"
points = 3
run = '{run}'
metrics = ["load_sectors_per_request <= 4"]

[[test]]
name = "one number"
points = 2
hidden = true
run = '--grid 1 --block 32 --arg x=f32[1]:fill(21) --arg out:out=f32[1] --arg n=1 --expect "out == 42"'
"""
HANDOUT = """\
# {title}

`{name}(x, out, n)`: `out[i]` is twice `x[i]`, for `i < n`.

```sh
warplab run {starter} {run}
```
"""


@click.group()
def new() -> None:
    """Writes a working skeleton of a lab or a test, to be changed."""


@new.command()
@click.argument("path", metavar="NAME", type=click.Path())
@click.option("--cuda", is_flag=True, help="In CUDA C++ instead of PTX.")
def lab(path: str, cuda: bool) -> None:
    """A lab: NAME/ with lab.toml, handout, starter, reference and a wrong submission."""
    folder = _named(path)
    name = _identifier(folder.name)
    title = folder.name.replace("-", " ").replace("_", " ")
    kernel, twice, suffix = (CPP_KERNEL, CPP_TWICE, "cu") if cuda else (KERNEL, TWICE, "ptx")
    starter, reference, wrong = f"starter.{suffix}", f"reference.{suffix}", f"copies.{suffix}"
    _write(
        {
            folder / "lab.toml": LAB.format(title=title, run=RUN),
            folder / "README.md": HANDOUT.format(title=title[:1].upper() + title[1:], name=name, run=RUN, starter=starter),
            folder / starter: "// Starter: copies.\n" + kernel.format(name=name, body="    // Something is missing here.\n"),
            folder / reference: "// Reference.\n" + kernel.format(name=name, body=twice),
            folder / "wrong" / wrong: "// wrong: 200 numbers: first out[1]\n" + kernel.format(name=name, body=""),
        }
    )
    click.echo(f"try\n  warplab grade {folder} {folder / reference}\n  warplab grade {folder} {folder / 'wrong'}")


@new.command()
@click.argument("path", metavar="NAME", type=click.Path())
@click.option("--cuda", is_flag=True, help="In CUDA C++ instead of PTX.")
def test(path: str, cuda: bool) -> None:
    """A test: NAME.ptx or NAME.cu with a run, an expectation and a budget."""
    file = _named(path).with_suffix(".cu" if cuda else ".ptx")
    name = _identifier(file.stem)
    _write(
        {
            file: f"// {name}: what it shows.\n//\n//@ run {RUN}\n//@ metric sectors_per_request <= 4\n"
            + (CPP_KERNEL.format(name=name, body=CPP_TWICE) if cuda else KERNEL.format(name=name, body=TWICE))
        }
    )
    click.echo(f"try\n  warplab test {file}")


def _named(path: str) -> Path:
    """The path, whose last part is a name that can be printed and written."""
    named = Path(path)
    if named.name in ("", "..") or not named.name.isprintable():
        raise click.UsageError(f"{path!r} is not a name for a file or a folder")
    return named


def _identifier(text: str) -> str:
    """A name that PTX allows."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in text)
    return name if name[:1].isalpha() else f"k_{name}"


def _write(files: dict[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise click.UsageError(f"{path} exists already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
