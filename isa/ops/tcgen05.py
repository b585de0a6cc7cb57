"""Tensor memory and the fifth-generation tensor cores (PTX ISA 9.7.18): assembled for sm_100a and its kin, not executed."""

from typing import Any

from .. import fragments
from ..facts import Constant, facts, when
from ..notation import Need, accepted

GROUP = "cta_group::1 cta_group::2"
NUMBERS = (1, 2, 4, 8, 16, 32, 64, 128)
NEED: dict[str, Any] = {"ptx": 8.6, "sm": 100, "arch": "f"}
ONLY_A = {"kind::i8": Need(8.6, 100, "a")}
BLOCKS = {"block16": Need(8.8, 100, "f"), "block32": Need(8.8, 100, "f")}
PLAIN = "kind::f16 kind::tf32 kind::f8f6f4 kind::i8"
SCALED = {"mxf8f6f4": "scale_vec::1X block32", "mxf4": "scale_vec::2X block32", "mxf4nvf4": "scale_vec::2X scale_vec::4X block16 block32"}
COLLECT_A = tuple(f"collector::a::{use}" for use in ("fill", "use", "lastuse", "discard"))
COLLECT_B = tuple(f"collector::b{n}::{use}" for n in range(4) for use in ("fill", "use", "lastuse", "discard"))

facts(
    "tcgen05",
    leading="alloc dealloc relinquish_alloc_permit ld st cp shift mma commit",
    fragments={"": fragments.WORDS},
    tensor_memory="mma ld st cp shift",
    memory_only=when("mma"),
    constants=(Constant("n", (32, 64, 128, 256, 512), when("alloc dealloc")),),
)

# ---------------------------------------------------------------- allocation and order

ALLOCATE = "9.7.18.7.1"
accepted(
    "tcgen05.alloc.group.sync.aligned{.shared::cta}.b32  [a], n:u32", group=GROUP, section=ALLOCATE, **NEED,
    doc="Writes the address of n newly allocated columns of tensor memory to shared memory at a.",
)  # fmt: skip
accepted(
    "tcgen05.dealloc.group.sync.aligned.b32  a:b32, n:u32", group=GROUP, section=ALLOCATE, **NEED,
    doc="Frees the n columns of tensor memory at a.",
)  # fmt: skip
accepted(
    "tcgen05.relinquish_alloc_permit.group.sync.aligned", group=GROUP, section=ALLOCATE, **NEED,
    doc="Gives up the right to allocate tensor memory.",
)  # fmt: skip
accepted(
    "tcgen05.what.sync.aligned", what="wait::ld wait::st", section="9.7.18.8.5", **NEED,
    doc="Waits for the thread's earlier tcgen05.ld or tcgen05.st.",
)  # fmt: skip
accepted(
    "tcgen05.what", what="fence::before_thread_sync fence::after_thread_sync", section="9.7.18.11.1", **NEED,
    doc="Orders tcgen05 operations against other threads' across a synchronisation.",
)  # fmt: skip
accepted(
    "tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.b64  [a]", group=GROUP, section="9.7.18.12.1", **NEED,
    doc="Lets the mbarrier at a follow the completion of the thread's earlier tcgen05 operations.",
)  # fmt: skip
accepted(
    "tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64  [a], b:u16", group=GROUP,
    section="9.7.18.12.1", **NEED,
    doc="Lets the mbarriers at a of the blocks that b names follow the completion of the thread's earlier tcgen05 operations.",
)  # fmt: skip

# ---------------------------------------------------------------- data

for _shape, _each, _most in (("16x64b", 1, 128), ("32x32b", 1, 128), ("16x128b", 2, 64), ("16x256b", 4, 32)):
    for _n in NUMBERS:
        if _n <= _most:
            accepted(
                f"tcgen05.ld.sync.aligned.shape.num{{.pack::16b}}.b32  d*{_n * _each}, [a]", shape=_shape, num=f"x{_n}",
                section="9.7.18.8.3", **NEED, doc="d = the warp's part of the tensor memory at a.",
            )  # fmt: skip
            accepted(
                f"tcgen05.st.sync.aligned.shape.num{{.unpack::16b}}.b32  [a], b*{_n * _each}", shape=_shape, num=f"x{_n}",
                section="9.7.18.8.4", **NEED, doc="Stores b to the warp's part of the tensor memory at a.",
            )  # fmt: skip
for _n in NUMBERS:
    accepted(
        f"tcgen05.ld.sync.aligned.shape.num{{.pack::16b}}.b32  d*{_n}, [a], #n", shape="16x32bx2", num=f"x{_n}",
        section="9.7.18.8.3", **NEED, doc="d = the warp's part of the tensor memory at a and, for its other half, n columns on.",
    )  # fmt: skip
    accepted(
        f"tcgen05.st.sync.aligned.shape.num{{.unpack::16b}}.b32  [a], #n, b*{_n}", shape="16x32bx2", num=f"x{_n}",
        section="9.7.18.8.4", **NEED, doc="Stores b to the warp's part of the tensor memory at a and, for its other half, n columns on.",
    )  # fmt: skip
for _shape, _multicast in (
    ("128x256b 4x256b 128x128b", ""), ("64x128b", "warpx2::02_13 warpx2::01_23"), ("32x128b", "warpx4"),
):  # fmt: skip
    for _format in ("", ".b8x16.source"):
        _words: dict[str, Any] = {"multicast": _multicast} if _multicast else {}
        if _format:
            _words["source"] = "b6x16_p32 b4x16_p64"
        accepted(
            f"tcgen05.cp.group.shape{'.multicast' if _multicast else ''}{_format}  [a], b:b64", group=GROUP, shape=_shape,
            section="9.7.18.9.2", **_words, **NEED, doc="Copies from shared memory, as the descriptor b says, to the tensor memory at a.",
        )  # fmt: skip
accepted(
    "tcgen05.shift.group.down  [a]", group=GROUP, section="9.7.18.9.3", ptx=8.6, sm=100, arch="a",
    doc="Shifts 32-byte elements of the tensor memory at a down by one row.",
)  # fmt: skip

# ---------------------------------------------------------------- multiplication

for _a in ("a:b64", "[a]"):
    for _sparse, _meta in (("", ""), (".sp", ", [e]")):
        _section = "9.7.18.10.9.2" if _sparse else "9.7.18.10.9.1"
        for _group, _lanes in (("cta_group::1", 4), ("cta_group::2", 8)):
            for _mask in ("", f", k*{_lanes}:b32"):
                for _scale in ("", ", #z"):
                    # Shifting needs an A in tensor memory, whose collector then may not keep it.
                    for _shift, _collect in (("", COLLECT_A), (".ashift", COLLECT_A[2:]))[: 1 + (_a == "[a]")]:
                        accepted(
                            f"tcgen05.mma{_sparse}.group.kind{_shift}{{.collector}}  [d], {_a}, b:b64{_meta}, i:b32{_mask}, {{!}}s{_scale}",
                            group=_group, kind=PLAIN if not _scale else "kind::f16 kind::tf32", collector=_collect, section=_section,
                            needs={} if _scale else ONLY_A, **NEED,
                            doc="Multiplies a by the b in shared memory into the tensor memory at d, and adds that where s is true.",
                        )  # fmt: skip
        for _kind, _vectors in SCALED.items():
            # The size of the scaled blocks may be left out from PTX 8.8 on, where the kind leaves no choice.
            for _written in (".vectors", "")[: 1 + (_kind != "mxf4nvf4")]:
                _sizes: dict[str, Any] = {"vectors": _vectors} if _written else {}
                accepted(
                    f"tcgen05.mma{_sparse}.group.kind.block_scale{_written}{{.collector}}  "
                    f"[d], {_a}, b:b64{_meta}, i:b32, [x], [y], {{!}}s",
                    group=GROUP, kind=f"kind::{_kind}", collector=COLLECT_A, section=_section,
                    **_sizes,
                    ptx=(8.7 if _kind == "mxf4nvf4" else 8.6) if _written else 8.8, sm=100, arch="f",
                    needs={k: v for k, v in BLOCKS.items() if k in _vectors.split()} if _written else {},
                    doc="Multiplies a by b, both scaled block by block with the factors at x and y, into the tensor memory at d.",
                )  # fmt: skip
        accepted(
            f"tcgen05.mma.ws{_sparse}.cta_group::1.kind{{.collector}}  [d], {_a}, b:b64{_meta}, i:b32, {{!}}s{{, z:b64}}",
            kind=PLAIN, collector=COLLECT_B, section="9.7.18.10.9.4" if _sparse else "9.7.18.10.9.3",
            needs=ONLY_A, **NEED,
            doc="Multiplies a by b into the tensor memory at d, keeping b in the tensor core; z masks columns of zeros.",
        )  # fmt: skip
