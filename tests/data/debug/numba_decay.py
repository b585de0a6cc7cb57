"""A kernel of numba.  numba_decay.ptx is what `python numba_decay.py` printed with numba-cuda 0.30."""

from numba import cuda, float32, int32


def decay(x, y, rate, n):
    i = cuda.grid(1)
    if i < n:
        total = x[i]
        for turn in range(3):
            total = total * rate + turn
        y[i] = total


if __name__ == "__main__":
    signature = (float32[::1], float32[::1], float32, int32)
    print(cuda.compile_ptx(decay, signature, debug=True, opt=False, cc=(8, 0))[0])
