"""A kernel in Triton.  triton_decay.ptx is what `python triton_decay.py` printed with Triton 3.9."""

import triton
import triton.language as tl


@triton.jit
def decay(x, y, out, n, turns, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside)
    add = tl.load(y + at, mask=inside)
    for k in range(turns):
        total = total * 0.5 + add
        total = tl.where(total > 100.0, total - k, total)
    tl.store(out + at, total, mask=inside)


if __name__ == "__main__":
    from triton.backends.compiler import GPUTarget

    types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "turns": "i32", "BLOCK": "constexpr"}
    source = triton.compiler.ASTSource(decay, types, {"BLOCK": 64})
    print(triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 2}).asm["ptx"])
