"""Small kernels for the host's tests; nothing of warplab is needed to read them."""

from pathlib import Path


def kernel(name: str) -> str:
    """The text of a file in kernels/."""
    return (Path(__file__).parent / "kernels" / f"{name}.ptx").read_text()


HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
BOTH = kernel("host")
KERNELS = BOTH.partition("// What follows")[0]
ASSERTS = kernel("asserts")
PRINTS = kernel("prints")
TWICE = kernel("twice")
CALLS_TWICE = kernel("calls_twice")


def ends_with(body: str, target: str = "sm_90") -> str:
    """A kernel k(p) that does one thing to the pointer it gets."""
    return (
        f".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;\n"
        f"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p]; {body}\nret; }}"
    )
