"""What nobody has written holds poison, by a seed."""

import numpy as np

from ..harness import kernel, run

BODY = """.reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<2>; .local .align 4 .b8 l[16]; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 16; add.u64 %d1, %d1, %d2; ld.shared.u32 %r2, [s+8]; ld.local.u32 %r3, [l+4]; selp.u32 %r4, 1, 0, %p1;
st.global.v4.u32 [%d1], {%r5, %r2, %r3, %r4}; ret;"""
TEXT = kernel("p out", BODY, ".shared .b8 s[64];")


def rows(**options: int) -> np.ndarray:
    """Of each thread an unset register, words of shared and local memory, a predicate."""
    return run(TEXT, 1, 64, 256, **options).reshape(64, 4)


def test_poison_comes_from_the_seed() -> None:
    first = rows(poison=1)
    assert (first == rows(poison=1)).all() and (first != rows(poison=2)).any()
    assert len(set(first[:, 0])) == 64 and len(set(first[:, 2])) == 64  # each thread has its own registers and local memory
    assert len(set(first[:, 1])) == 1 and first[0, 1] != 0
    assert set(first[:, 3]) == {0, 1}


def test_without_it_all_is_zero() -> None:
    assert not rows().any()
