"""`warplab figure`: the figures of lectures, for numbers of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import completing

if TYPE_CHECKING:
    from ...figures import Figure

F = TypeVar("F", bound=Callable[..., Any])
DEVICE = click.option("--device", default="sm_90", show_default=True, shell_complete=completing.devices, help="The model, such as sm_35.")
STRIDE = click.option("--stride", type=int, default=1, show_default=True, help="Lane k accesses element k x stride.")
INDEX = click.option("--index", metavar="EXPR", help='The element of each lane instead, such as "lane * 33 % 64".')
WIDTH = click.option("--width", type=int, default=4, show_default=True, help="Bytes of an element.")
OFFSET = click.option("--offset", type=int, default=0, show_default=True, help="Bytes from an aligned address to element 0.")


@click.group()
def figure() -> None:
    """Draws a figure for given numbers, as SVG or PNG, or as a page with sliders.

    Without --output, SVG goes to standard output. PNG needs Chromium or Chrome on the PATH. --slide stride=1..32 -o banks.html writes a page
    with the figures of all these numbers, and a slider that chooses one.
    """


def _figure(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Adds a kind of figure, with its options and those of all kinds."""

    def add(draw: F) -> F:
        def shown(output: str | None, scheme: str, slide: tuple[str, ...], **given: Any) -> None:
            if slide:
                _write_page(draw, output, scheme, slide, given)
            else:
                _write(draw(**given), output, scheme)

        shown.__doc__ = draw.__doc__
        for option in reversed((*options, *COMMON)):
            shown = option(shown)
        figure.command(draw.__name__)(shown)
        return draw

    return add


COMMON = (
    click.option("--output", "-o", type=click.Path(dir_okay=False), help="A file that ends in .svg or .png, or in .html with --slide."),
    click.option(
        "--slide", multiple=True, metavar="OPTION=VALUES", help="A slider for an option: 1..32, 0..64..8 or 1,2,4. It may be repeated."
    ),
    click.option("--scheme", type=click.Choice(("auto", "light", "dark")), default="auto", show_default=True, help="The colours."),
)


def _write(drawn: Figure, output: str | None, scheme: Any) -> None:
    if output is None:
        click.echo(drawn.text(scheme))
        return
    drawn.save(output, scheme)
    click.echo(drawn.says)


def _write_page(draw: Callable[..., Figure], output: str | None, scheme: Any, slide: tuple[str, ...], given: dict[str, Any]) -> None:
    from ...errors import UsageError
    from ...figures import sliders

    if output is None:
        raise UsageError("--slide: a page with sliders needs a file: -o FILE.html")
    context = click.get_current_context()
    known = {name.removeprefix("--"): p for p in context.command.params for name in p.opts if p.name in given}
    values: dict[str, list[Any]] = {}
    shown: dict[str, list[str]] = {}
    for text in slide:
        name, _, listed = text.partition("=")
        if (option := known.get(name)) is None:
            raise UsageError(f"--slide {text}: no option of {context.command.name} is called {name!r} (there are {', '.join(known)})")
        assert option.name is not None
        shown[name] = _listed(text, listed)
        values[option.name] = [option.type_cast_value(context, (one,) if option.multiple else one) for one in shown[name]]
    page = sliders(draw, values, given, names=shown)
    page.save(output, scheme)
    click.echo(f"{output}: {len(page.figures)} figures")


def _listed(text: str, listed: str) -> list[str]:
    """The values of a slider: `1..32`, `0..64..8`, or a list with commas."""
    from ...errors import UsageError

    if ".." not in listed:
        if not all(one.strip() for one in listed.split(",")):
            raise UsageError(f"--slide {text}: expected OPTION=VALUES with values such as 1..32, 0..64..8 or 1,2,4")
        return [one.strip() for one in listed.split(",")]
    try:
        first, last, *step = map(int, listed.split(".."))
        return [str(n) for n in range(first, last + 1, *step)]
    except (ValueError, TypeError):
        raise UsageError(f"--slide {text}: {listed!r} is no range: FIRST..LAST or FIRST..LAST..STEP, in whole numbers") from None


@_figure(STRIDE, INDEX, WIDTH, OFFSET, DEVICE)
def banks(**given: Any) -> Figure:
    """The lanes of a warp against the banks of shared memory."""
    from ...figures import banks

    return banks(**given)


@_figure(
    STRIDE, INDEX, WIDTH, OFFSET, DEVICE, click.option("--past-l1", is_flag=True, help="On 2.x and 3.x: loads that L1 does not cache.")
)
def coalescing(past_l1: bool, **given: Any) -> Figure:
    """The lanes of a warp against the sectors or transactions of global memory."""
    from ...figures import coalescing

    return coalescing(**given, cached=not past_l1)


@_figure(
    click.option("--threads", "--block", type=int, default=256, show_default=True, help="Threads per block."),
    click.option("--registers", type=int, default=32, show_default=True, help="Registers per thread."),
    click.option("--shared", type=int, default=0, show_default=True, help="Bytes of shared memory per block."),
    DEVICE,
)
def occupancy(**given: Any) -> Figure:
    """Occupancy against the size of blocks, registers and shared memory."""
    from ...figures import occupancy

    return occupancy(**given)


@_figure(
    click.option("--intensity", type=float, multiple=True, help="FLOP per byte of device memory of a kernel; it may be repeated."),
    click.option("--unit", default="FP32", show_default=True, help="FP32, FP64, FP16 or tensor."),
    DEVICE,
)
def roofline(**given: Any) -> Figure:
    """The roofs of a device, and kernels of given intensities below them."""
    from ...figures import roofline

    return roofline(**given)


@_figure(
    click.option("--condition", metavar="EXPR", default="lane < 12", show_default=True, help="The lanes that take the first side."),
    click.option("--then", type=int, default=1, show_default=True, help="Instructions of that side."),
    click.option("--else", "otherwise", type=int, default=2, show_default=True, help="Instructions of the other side."),
    click.option("--turns", metavar="EXPR", help='A loop instead: the turns of each lane, such as "lane % 4 + 1".'),
)
def divergence(**given: Any) -> Figure:
    """Which lanes of a warp execute which instruction of a branch or loop, drawn from a launch."""
    from ...figures import divergence

    return divergence(**given)
