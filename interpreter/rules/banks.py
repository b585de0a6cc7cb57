"""How many passes a warp's access to shared memory takes, by the bank rule of each compute capability.

1.x to 3.x follow the programming guide (4.2, appendix F); the modern rule was fitted to the H200's counters, which it
reproduces for loads, stores, atomics and matrix loads of every width, mask and gather that was recorded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplab.isa.profiles import DeviceProfile

from .warps import WARP, Addresses, Counts, Mask, access, largest_group, most_different

BANKS = 32
HALF = WARP // 2


def shared_passes(profile: DeviceProfile, addresses: Addresses, active: Mask, width: int, *, store: bool = False) -> tuple[Counts, Counts]:
    """(passes, conflicts) of each warp: passes as the device takes them, conflicts those beyond what the width needs."""
    match profile.shared_rule:
        case "16-banks":
            return sixteen_banks(addresses, active, width)
        case "32-banks":
            return fermi_banks(addresses, active, width)
        case "64-bit-banks":
            return kepler_banks(addresses, active, width, bank_bytes=profile.shared_bank_mode)
        case "modern":
            return modern_banks(addresses, active, width, store=store)


def _group_passes(addresses: NDArray[np.int64], active: Mask, width: int) -> Counts:
    """Passes of groups of lanes taken together: the most different words of one bank."""
    each = max(1, width // 4)  # accesses are aligned: one takes as many banks side by side, all of them or none
    words = addresses >> (4 * each).bit_length() - 1
    return most_different(words & BANKS // each - 1, active, BANKS // each, words)


def _sums(passes: Counts, warps: int, free: Counts) -> tuple[Counts, Counts]:
    """(passes, conflicts) of warps from those of their groups; `free` says what each group would take without a conflict."""
    total = passes.reshape(warps, -1).sum(axis=-1)
    return total, total - free.reshape(warps, -1).sum(axis=-1)


def modern_banks(addresses: Addresses, active: Mask, width: int, *, store: bool = False) -> tuple[Counts, Counts]:
    """(passes, conflicts) on 5.x to 9.0: 32 banks of 4 bytes, 8-byte words by half-warp, 16-byte words by quarter-warp.

    Wide loads do better when all lanes share with a neighbour: if every lane's partner (the lane one apart, or for every lane
    the one two apart) is inactive or reads the same address, twice as many lanes are served together.  Stores never are.

    >>> lanes = np.arange(32)
    >>> modern_banks(lanes // 2 * 8, np.ones(32, bool), 8)
    (array([1]), array([0]))
    """
    where, active = access(addresses, active)
    warps = where.shape[0]
    if width <= 4:
        passes = _group_passes(where, active, width)
        return _sums(passes, warps, (passes > 0).astype(np.int64))
    lanes = WARP * 4 // width
    passes = _group_passes(where.reshape(-1, lanes), active.reshape(-1, lanes), width)
    total, conflicts = _sums(passes, warps, (passes > 0).astype(np.int64))
    if store:
        return total, conflicts
    paired = np.zeros(warps, dtype=np.bool_)
    for apart in (1, 2):
        may = np.flatnonzero((where[:, 0] == where[:, apart]) | ~active[:, 0] | ~active[:, apart])
        if may.size:
            pairs = where[may].reshape(may.size, -1, 2, apart)
            idle = ~active[may].reshape(pairs.shape)
            paired[may] |= ((pairs[:, :, 0] == pairs[:, :, 1]) | idle[:, :, 0] | idle[:, :, 1]).all(axis=(1, 2))
    if paired.any():
        passes = _group_passes(where[paired].reshape(-1, 2 * lanes), active[paired].reshape(-1, 2 * lanes), width)
        total[paired], conflicts[paired] = _sums(passes, int(paired.sum()), (passes > 0).astype(np.int64))
    return total, conflicts


def atomic_passes(addresses: Addresses, active: Mask, width: int, *, counting: bool = False, swap: bool = False) -> tuple[Counts, Counts]:
    """(passes, conflicts) of a shared atomic on 5.x to 9.0: lanes of one bank go one after the other, sharing a word or not.

    A reduction that adds the constant one (`counting`) is a special instruction that serves all lanes of one word at once.
    Compare-and-swap (`swap`) sends two values a lane and takes twice the passes; conflicts are counted once.
    """
    where, active = access(addresses, active)
    if counting:
        return modern_banks(where, active, width, store=True)
    warps = where.shape[0]
    lanes = WARP * 4 // max(width, 4)
    each = max(1, width // 4)
    words = where.reshape(-1, lanes) >> (4 * each).bit_length() - 1
    passes = largest_group(words & BANKS // each - 1, active.reshape(-1, lanes), BANKS // each)
    total, conflicts = _sums(passes, warps, (passes > 0).astype(np.int64))
    return total * 2 if swap else total, conflicts


def matrix_passes(addresses: Addresses, matrices: int) -> tuple[Counts, Counts]:
    """(passes, conflicts) of ldmatrix or stmatrix: matrix k takes its eight 16-byte rows from lanes 8k to 8k+7."""
    where, _ = access(addresses, np.ones(WARP, dtype=np.bool_))
    warps = where.shape[0]
    rows = where[:, : 8 * matrices].reshape(-1, 8)
    passes = _group_passes(rows, np.ones(rows.shape, dtype=np.bool_), 16)
    return _sums(passes, warps, np.ones_like(passes))


def sixteen_banks(addresses: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(passes, conflicts) on 1.x (guide F.3.3): half-warps, 16 banks, one word broadcast in each pass.

    Accesses over 32 bits are split into 32-bit ones.  Neighbouring bytes or halfwords of one bank conflict.  The guide leaves
    open which word is broadcast; here the one that most waiting threads want.
    """
    where, active = access(addresses, active)
    warps = where.shape[0]
    half, mask = where.reshape(-1, HALF), active.reshape(-1, HALF)
    total = np.zeros(len(half), dtype=np.int64)
    free = np.zeros(len(half), dtype=np.int64)
    for offset in range(0, width, 4):
        at = half + offset
        word = at // min(width, 4)
        bank = at // 4 % HALF
        left = mask.copy()
        same_word = word[:, :, None] == word[:, None, :]
        same_bank = bank[:, :, None] == bank[:, None, :]
        earlier = np.tri(HALF, k=-1, dtype=np.bool_)
        free += mask.any(axis=-1)
        while True:
            busy = left.any(axis=-1)
            if not busy.any():
                break
            total += busy
            wanted = np.where(left, (same_word & left[:, None, :]).sum(axis=-1), 0)
            chosen = wanted.argmax(axis=-1)
            broadcast = np.take_along_axis(same_word, chosen[:, None, None], axis=1)[:, 0] & left
            elsewhere = left & ~np.take_along_axis(same_bank, chosen[:, None, None], axis=1)[:, 0]
            waiting_before = (same_bank & elsewhere[:, None, :] & earlier).any(axis=-1)
            left &= ~(broadcast | (elsewhere & ~waiting_before))
    return _sums(total, warps, free)


def fermi_banks(addresses: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(passes, conflicts) on 2.x (guide F.4.3): 32 banks, any number of words broadcast; 64-bit accesses by half-warp.

    A quarter-warp of a 128-bit access takes one pass more than its threads that want different words of one bank.
    """
    where, active = access(addresses, active)
    warps = where.shape[0]
    lanes = WARP * 4 // max(width, 4)
    passes = _group_passes(where.reshape(-1, lanes), active.reshape(-1, lanes), width)
    free = (passes > 0).astype(np.int64)
    if width == 16:
        passes = passes + free
    return _sums(passes, warps, free)


def kepler_banks(addresses: Addresses, active: Mask, width: int, *, bank_bytes: int = 4) -> tuple[Counts, Counts]:
    """(passes, conflicts) on 3.x (guide F.5.3), in the mode of 32-bit or of 64-bit banks.

    Each of 32 banks delivers 64 bits a clock.  In 32-bit mode those are words i and i + 32 of an aligned run of 64 words.
    """
    where, active = access(addresses, active)
    warps = where.shape[0]
    lanes = WARP * 8 // max(width, 8)
    first, words = where.reshape(-1, lanes) // bank_bytes, max(1, width // bank_bytes)
    word = np.concatenate([first + k for k in range(words)], axis=-1)
    live = np.tile(active.reshape(-1, lanes), words)
    row = word // 64 if bank_bytes == 4 else word
    passes = most_different(word % BANKS, live, BANKS, row)
    return _sums(passes, warps, (passes > 0).astype(np.int64))
