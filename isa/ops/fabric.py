"""Multimem and cluster launch control (PTX ISA 9.7.10.14, 9.7.15.17).

They are assembled, verified and printed, not executed: what a multicast object or a launch queue holds is the driver's own.
"""

from typing import Any

from ..facts import facts, when
from ..notation import Need, accepted

_TX = "mbarrier::complete_tx::bytes"
FAMILY = Need(8.6, 100, "af")

MULTIMEM = "9.7.10.14"
_NEEDS = {**dict.fromkeys(("e4m3x2", "e4m3x4", "e5m2x2", "e5m2x4"), FAMILY), "acc::f32": Need(8.2, 90)}
_HALF_VECTORS = ((".vec", "v2 v4 v8", "f16 bf16"), ("{.vec}", "v2 v4", "f16x2 bf16x2"))
_FP8_VECTORS = ((".vec", "v2 v4 v8", "e4m3x2 e5m2x2"), ("{.vec}", "v2 v4", "e4m3x4 e5m2x4"))
_INTEGERS = (("add", "u32 s32 u64 f64"), ("min max", "u32 s32 u64 s64"), ("and or xor", "b32 b64"))


def _multimem(name: str, order: str, words: str, operands: str, doc: str, **sets: Any) -> None:
    """A row without an order (.weak where a plain access has that word), and one with order and scope."""
    plain = "" if name == "red" else "{.weak}"
    ordered: dict[str, Any] = {"sem": order, "scope": "cta cluster gpu sys"}
    for head, more in ((plain, {}), (".sem.scope", ordered)):
        accepted(
            f"multimem.{name}{head}{{.global}}{words}  {operands}",
            doc=doc,
            ptx=8.1,
            sm=90,
            needs=_NEEDS,
            section=MULTIMEM,
            **sets,
            **more,
        )


facts("multimem", leading="ld_reduce red st", has_wide_addresses=True, word_addresses=when("global"))
_READ = "d = what lies at the multimem address a in all devices, combined by op."
_WRITE = "What lies at the multimem address a in every device = b."
_UPDATE = "What lies at the multimem address a in every device becomes itself op b."
for _op, _type in _INTEGERS:
    _multimem("ld_reduce", "relaxed acquire", ".op.type", "d, [a]", _READ, op=_op, type=_type)
    _multimem("red", "relaxed release", ".op.type", "[a], b", _UPDATE, op=_op, type=_type)
_multimem("ld_reduce", "relaxed acquire", ".add{.vec}.f32", "d.vec, [a]", _READ, vec="v2 v4")
_multimem("red", "relaxed release", ".add{.vec}.f32", "[a], b.vec", _UPDATE, vec="v2 v4")
_multimem("st", "relaxed release", ".type", "[a], b", _WRITE, type="u32 s32 b32 u64 s64 b64 f64")
_multimem("st", "relaxed release", "{.vec}.f32", "[a], b.vec", _WRITE, vec="v2 v4")
for _acc, _vectors in (("f32", _HALF_VECTORS), ("f16", _FP8_VECTORS)):
    for _vec, _lengths, _type in _vectors:
        _multimem("ld_reduce", "relaxed acquire", f".add{{.acc::{_acc}}}{_vec}.type", "d.vec, [a]", _READ, vec=_lengths, type=_type)
        _multimem("ld_reduce", "relaxed acquire", f".op{_vec}.type", "d.vec, [a]", _READ, op="min max", vec=_lengths, type=_type)
        _multimem("st", "relaxed release", f"{_vec}.type", "[a], b.vec", _WRITE, vec=_lengths, type=_type)
for _vec, _lengths, _type in _HALF_VECTORS:
    _multimem("red", "relaxed release", f".add{_vec}.type", "[a], b.vec", _UPDATE, vec=_lengths, type=_type)
    _multimem("red", "relaxed release", ".op.vec.type", "[a], b.vec", _UPDATE, op="min max", vec=_lengths, type=_type)

facts("clusterlaunchcontrol", leading="try_cancel async query_cancel is_canceled")
CONTROL = "9.7.15.17"
accepted(
    f"clusterlaunchcontrol.try_cancel.async{{.ss}}.{_TX}{{.multicast::cluster::all}}.b128  [a], [b]",
    ss="shared::cta",
    ptx=8.6,
    sm=100,
    needs={"multicast::cluster::all": FAMILY},
    section=CONTROL,
    doc="Asks to take over a cluster that was not launched yet; the answer goes to a, its bytes to the mbarrier b.",
)
accepted(
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.type  p, a",
    type="b128",
    ptx=8.6,
    sm=100,
    section=CONTROL,
    doc='p = "the answer a gives a cluster".',
)
accepted(
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d*4:u32~, a",
    ptx=8.6,
    sm=100,
    section=CONTROL,
    doc="d = the %ctaid of that cluster's first CTA.",
)
accepted(
    "clusterlaunchcontrol.query_cancel.axis.b32.b128  d:u32~, a",
    ptx=8.6,
    sm=100,
    section=CONTROL,
    axis="get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z",
    doc="d = one component of the %ctaid of that cluster's first CTA.",
)
