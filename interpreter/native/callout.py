"""A row that numpy runs on the registers of compiled code: what it reads and writes, found out once for all times that it runs."""

from __future__ import annotations

from ..plan.plan import Call
from ..plan.uses import mask_of, read, read_by, slots_of
from ..vector.steps.operands import get_of
from .cut import Cut, Row, arrives_at_cluster
from .frame import Frame
from .schedule import layout as s


class Callout:
    """Operations of one row, or the call that ends its segment."""

    def __init__(self, cut: Cut, frame: Frame, row: Row) -> None:
        segment = cut.plan.segments[row.segment]
        ops = segment.ops[row.first : row.last]
        self.row = row
        self.calls = row.kind == s.CALLOUT and row.first == len(segment.ops)
        self.arrives_at_cluster = any(map(arrives_at_cluster, ops))
        told = [
            op for op in ops if row.kind in (s.CALLOUT, s.CLUSTER_ARRIVE) or op.meaning.access is not None
        ]  # of a pass: what may be refused
        ends = segment.site.instruction.opcode if segment.site else "ret"
        self.opcodes = [op.meaning.form.opcode for op in told] or [ends]
        wanted = mask_of(slot for op in ops for slot in read(op)) | (mask_of(read_by(segment.end)) if self.calls else 0)
        end = segment.end
        self.pointer = get_of(end.pointer) if self.calls and isinstance(end, Call) and end.pointer is not None else None
        self.live = slots_of(row.live)
        carries = any(op.how == "carry" for op in ops)
        self.reads = [slot for slot in self.live if wanted >> slot & 1 or (carries and slot == frame.carry)]
        kinds = cut.needed(row)
        self.results = [(slot, kind) for slot in dict.fromkeys(cut.written(row)) for kind in sorted(kinds.get(slot, ()))]
