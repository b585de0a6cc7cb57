"""Moves, loads and stores, address conversion, the stack (PTX ISA 9.7.10, 9.7.19)."""

from collections.abc import Sequence
from typing import Any

from ..facts import ALWAYS, Constant, Need, excludes, facts, when
from ..notation import accepted, instruction
from ..ports import Addresses, Array, Lanes, Mask
from ..spaces import NEAR

MEMORY_TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
LOAD_SPACES = "const global local param param::entry param::func shared shared::cta shared::cluster"
STORE_SPACES = "global local param param::func shared shared::cta shared::cluster"
SCOPES = "cta cluster gpu sys"
EVICT = "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
L2_EVICT = "L2::evict_normal L2::evict_first L2::evict_last"
PREFETCH = "L2::64B L2::128B L2::256B"
NEEDS = {
    "shared::cta": Need(7.8), "shared::cluster": Need(7.8, 90), "param::func": Need(8.3), "param::entry": Need(8.3),
    "cluster": Need(7.8, 90), "unified": Need(8.0, 90), "L2::cache_hint": Need(7.4, 80), "L2::64B": Need(7.4, 75), "L2::128B": Need(7.4, 75),
    "L2::256B": Need(7.4, 80), "ca": Need(2.0, 20), "cg": Need(2.0, 20), "cs": Need(2.0, 20), "lu": Need(2.0, 20),
    "cv": Need(2.0, 20), "wb": Need(2.0, 20), "wt": Need(2.0, 20), "weak": Need(6.0, 70), "b128": Need(8.3, 70),
    **{word: Need(7.4, 70) for word in EVICT.split()}, **{word: Need(8.8, 100) for word in L2_EVICT.split()},
}  # fmt: skip
VEC = "v2 v4 v8"


facts(
    "mov",
    widest_pack=128,
    variables="any",
    reads_special=True,
    passes_on=True,
    moves_bits=True,
    takes_bits="a",
    sign_free=when(without="v2 v4"),
    passes_address=when(without="v2 v4"),
)


@instruction(
    "mov.type  d, a",
    type="pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 b128",
    section="9.7.10.3",
    needs={"b128": Need(8.3, 70)},
)
@instruction("mov.vec.type  d.vec, a.vec", vec="v2 v4", type="b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", section="9.7.10.3")
def mov(a: Array) -> Array:
    """d = a: a register, constant, special register, address of a variable or function; .b types also pack and unpack vectors."""
    return a


facts("ld ldu", access="load", result_from_elsewhere=True, memory_only=ALWAYS)
facts("ld", observes_changes=when("volatile relaxed acquire mmio"))
facts("st", access="store", takes_bits="b", passes_on=True, memory_only=when(without="bulk"), word_addresses=when("async"), mbarrier="c")
facts("ld ldu st", moves_memory=True, is_indexed=True, has_wide_addresses=True)
facts("ldu", widest=128)
facts(
    "ld st",
    takes_any_space=True,
    excludes=(
        excludes("relaxed acquire release", "local const param param::entry param::func"),
        excludes("volatile", "const param param::entry param::func"),
        excludes("volatile", "local", unless=Need(9.1)),
        excludes(f"{EVICT} {L2_EVICT} {PREFETCH} L2::cache_hint", NEAR),
    ),
    widest=256,
    of_256_bits=L2_EVICT,
)
LOADS: dict[str, Any] = dict(ss=LOAD_SPACES, vec=VEC, type=MEMORY_TYPES, needs=NEEDS, section="9.7.10.8")


@instruction(
    "ld{.weak}{.ss}{.cop}{.L2::cache_hint}{.prefetch}{.vec}.type  d.vec:type+, [a]{, b:b64}",
    cop="ca cg cs lu cv",
    prefetch=PREFETCH,
    **LOADS,
)
@instruction("ld{.weak}{.ss}{.evict}{.evict2}{.L2::cache_hint}{.prefetch}{.vec}.type  d.vec:type+, [a]{, b:b64}",
             evict=EVICT, evict2=L2_EVICT, prefetch=PREFETCH, **LOADS)  # fmt: skip
@instruction("ld.volatile{.ss}{.prefetch}{.vec}.type  d.vec:type+, [a]", prefetch=PREFETCH, **LOADS)
@instruction("ld.order.scope{.ss}{.evict}{.evict2}{.L2::cache_hint}{.prefetch}{.vec}.type  d.vec:type+, [a]{, b:b64}",
             order="relaxed acquire", scope=SCOPES, evict=EVICT, evict2=L2_EVICT, prefetch=PREFETCH, ptx=6.0, sm=70, **LOADS)  # fmt: skip
@instruction("ld.global{.cop}.nc{.L2::cache_hint}{.prefetch}{.vec}.type  d.vec:type+, [a]{, b:b64}",
             cop="ca cg cs", prefetch=PREFETCH, vec=VEC, type=MEMORY_TYPES, needs=NEEDS, ptx=3.1, sm=32, section="9.7.10.9")  # fmt: skip
@instruction("ld.global.nc{.evict}{.evict2}{.L2::cache_hint}{.prefetch}{.vec}.type  d.vec:type+, [a]{, b:b64}",
             evict=EVICT, evict2=L2_EVICT, prefetch=PREFETCH, vec=VEC, type=MEMORY_TYPES, needs=NEEDS, ptx=3.1, sm=32, section="9.7.10.9")  # fmt: skip
@instruction(
    "ldu{.ss}{.vec}.type  d.vec:type+, [a]",
    ss="global",
    vec="v2 v4",
    type=MEMORY_TYPES,
    needs=NEEDS,
    ptx=2.0,
    sm=20,
    section="9.7.10.10",
)
def ld(
    lanes: Lanes, a: Addresses, b: Array | None = None, *, type: str, ss: str = "generic", vec: str = "v1", cop: str = "", order: str = "",
    scope: str = "", weak: bool = False, volatile: bool = False, evict: str = "", evict2: str = "", prefetch: str = "",
    L2_cache_hint: bool = False, global_: bool = False,
) -> tuple[Array, ...]:  # fmt: skip
    """d = the elements of .type at a.  Order, caching and eviction words change no value: every access is already coherent here."""
    return lanes.load("global" if global_ else ss, a, type, int(vec[1:]))


STORES: dict[str, Any] = dict(ss=STORE_SPACES, vec=VEC, type=MEMORY_TYPES, needs=NEEDS, section="9.7.10.11")


@instruction("st{.weak}{.ss}{.cop}{.L2::cache_hint}{.vec}.type  [a], b.vec:type+{, c:b64}", cop="wb cg cs wt", **STORES)
@instruction(
    "st{.weak}{.ss}{.evict}{.evict2}{.L2::cache_hint}{.vec}.type  [a], b.vec:type+{, c:b64}",
    evict=EVICT,
    evict2=L2_EVICT,
    **STORES,
)
@instruction("st.volatile{.ss}{.vec}.type  [a], b.vec:type+", **STORES)
@instruction("st.order.scope{.ss}{.evict}{.evict2}{.L2::cache_hint}{.vec}.type  [a], b.vec:type+{, c:b64}",
             order="relaxed release", scope=SCOPES, evict=EVICT, evict2=L2_EVICT, ptx=6.0, sm=70, **STORES)  # fmt: skip
def st(
    lanes: Lanes, a: Addresses, b: Sequence[Array], c: Array | None = None, *, type: str, ss: str = "generic", vec: str = "v1", cop: str = "",
    order: str = "", scope: str = "", weak: bool = False, volatile: bool = False, evict: str = "", evict2: str = "",
    L2_cache_hint: bool = False, global_: bool = False,
) -> None:  # fmt: skip
    """The elements of .type at a = b."""
    lanes.store("global" if global_ else ss, a, type, b)


MMIO: dict[str, Any] = dict(type=MEMORY_TYPES, needs=NEEDS, ptx=8.2, sm=70)


@instruction("ld.mmio.relaxed.sys{.global}.type  d:type+, [a]", section="9.7.10.8", **MMIO)
def ld_mmio(lanes: Lanes, a: Addresses, *, type: str, global_: bool = False) -> Array | tuple[Array, ...]:
    """d = the .type at a, read exactly once."""
    found = lanes.load("global" if global_ else "generic", a, type)
    return found if type == "b128" else found[0]


@instruction("st.mmio.relaxed.sys{.global}.type  [a], b:type+", section="9.7.10.11", **MMIO)
def st_mmio(lanes: Lanes, a: Addresses, b: Array | tuple[Array, ...], *, type: str, global_: bool = False) -> None:
    """The .type at a = b, written exactly once."""
    lanes.store("global" if global_ else "generic", a, type, b if isinstance(b, tuple) else (b,))


CVTA_NEEDS = {**NEEDS, "const": Need(3.1), "param": Need(7.7, 70), "param::entry": Need(8.3, 70)}
CVTA_SPACES = "const global local param param::entry shared shared::cta shared::cluster"


facts("cvta", upwards=True, leading="to", variables="named", passes_address=when("global const"))


@instruction("cvta.space.type  d, a", space=CVTA_SPACES, type="u32 u64", ptx=2.0, sm=20, needs=CVTA_NEEDS, section="9.7.10.20")
def cvta(lanes: Lanes, a: Array, *, space: str) -> Array:
    """d = the generic address of a, which is an address in .space."""
    return lanes.convert(a, space, True)


@instruction("cvta.to.space.type  d, a", space=CVTA_SPACES, type="u32 u64", ptx=2.0, sm=20, needs=CVTA_NEEDS, section="9.7.10.20")
def cvta_to(lanes: Lanes, a: Array, *, space: str) -> Array:
    """d = the address in .space of the generic address a."""
    return lanes.convert(a, space, False)


@instruction("isspacep.space  p, a:u32", space=CVTA_SPACES, ptx=2.0, sm=20, needs=CVTA_NEEDS, section="9.7.10.19")
@instruction("isspacep.space  p, a:b64", space=CVTA_SPACES, ptx=2.0, sm=20, needs=CVTA_NEEDS, section="9.7.10.19")
def isspacep(lanes: Lanes, a: Addresses, *, space: str) -> Mask:
    """p = "the generic address a lies in the window of .space"."""
    return lanes.space_of(a, space)


facts("alloca", constants=(Constant("n", tuple(1 << bit for bit in range(32)), message="the alignment {value} is not a power of two"),))
facts("stackrestore", registers_only="a")
accepted("alloca.type  d, a{, #n}", type="u32 u64", ptx=7.3, sm=52, effect="alloca", section="9.7.19.3",
         doc="d = the local address of a bytes that live until the function returns, aligned to n (8 where none is given).")  # fmt: skip
accepted("stacksave.type  d", type="u32 u64", ptx=7.3, sm=52, effect="stacksave", section="9.7.19.1",
         doc="d = the current stack pointer, for stackrestore.")  # fmt: skip
accepted("stackrestore.type  a", type="u32 u64", ptx=7.3, sm=52, effect="stackrestore", section="9.7.19.2",
         doc="The stack pointer = a; what alloca gave since is gone.")  # fmt: skip
