"""What code looks at that is to prove something of its launch, and the rights that accesses ask of allocations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...plan import plan as P

# Bits of what an allocation grants and an access asks for.  Where nothing is to be proved, the first is the only one.
WRITABLE = 1
NO_WRITES = 2  # nobody writes to the allocation in this launch
ALL_SET = 4  # it holds no bytes that nobody has set
CLAIM = 4  # bytes of a claim
WORD = 4  # bytes that are claimed as one, where no access is narrower


@dataclass(frozen=True, eq=False)
class ProofWatch:
    """The operations of one function, by their ids."""

    rights: Mapping[int, int]  # what an access to global memory asks for
    claiming: frozenset[int]  # the accesses that claim what they access
    unit: int  # bytes that are claimed as one: those of the narrowest of these accesses, or a word
    naming: frozenset[int]  # the operations across lanes whose last operand has to name all lanes
    stored: frozenset[P.ParameterPlace]  # the parameters from which the addresses of stores in global memory come
    may_meet: bool  # see LaunchProof
