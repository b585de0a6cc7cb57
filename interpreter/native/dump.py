"""What the native compiler made of each kernel, stage by stage: `warplab dump --stage inlined`, `uniformity`, `cut`, `frame`, `rows`, `llvm` and
`assembly`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from warplab.assembler.objects import load
from warplab.assembler.printer import statement

from ..plan import plan as P
from ..plan.dump import PlanText, encoded, kernels_of
from ..plan.uses import slots_of, targets
from ..program import LoadedKernel
from .cut import Row
from .pipeline import NativeStages, stages
from .rows import RowTable
from .schedule import layout as s
from .tiering import inlined_plan, parts_lanes
from .trace.code import Untraceable
from .uniformity import Uniformity, kind_in

KINDS = ("uniform", "varying")
ROWS = {getattr(s, name): name.lower().replace("_", " ") for name in (
    "RUN", "CALLOUT", "JUMP", "BRANCH", "BRANCH_UNIFORM", "BRANCH_MANY", "EXIT", "EXIT_SOME", "EXIT_UNIFORM", "BARRIER", "WARP_SYNC", "LEAVE", "REGION",
    "CLUSTER_ARRIVE", "CLUSTER_WAIT")}  # fmt: skip
Lines = Callable[[LoadedKernel, NativeStages], Iterator[str]]


def inlined(data: bytes, name: str) -> str:
    """The plan of each kernel with its calls inlined: what is compiled."""
    return "\n".join([line for kernel in kernels_of([load(data, name)]) for line in PlanText(inlined_plan(kernel)).lines("")]) + "\n"


def uniformity(data: bytes, name: str) -> str:
    """Operation by operation, whether its result is one value for all lanes of a wave ("uniform"), or a value for each ("varying"): perhaps only
    because lanes write it while others, which have diverged from them, wait ("apart").
    """
    return _text(data, name, _uniformity)


def cut(data: bytes, name: str) -> str:
    """The rows of each kernel: passes, regions, and what happens between them."""
    return _text(data, name, _cut)


def frame(data: bytes, name: str) -> str:
    """Where registers lie between rows."""
    return _text(data, name, _frame)


def rows(data: bytes, name: str) -> str:
    """The rows as the scheduler reads them."""
    return _text(data, name, _rows)


def llvm(data: bytes, name: str) -> str:
    """The LLVM IR, with what each function is compiled from."""
    return _text(data, name, _llvm)


def assembly(data: bytes, name: str) -> str:
    """What LLVM makes of it for this processor."""
    return _text(data, name, _assembly)


def _made(data: bytes, name: str) -> Iterator[tuple[LoadedKernel, NativeStages | str]]:
    """The stages of each kernel, or why there are none."""
    for kernel in kernels_of([load(data, name)]):
        plan = inlined_plan(kernel)
        try:
            yield kernel, stages(kernel, plan, parts_lanes(plan))
        except Untraceable as e:
            yield kernel, str(e)


def _text(data: bytes, name: str, lines: Lines) -> str:
    out: list[str] = []
    for kernel, made in _made(data, name):
        out += [f"{kernel.name}: numpy runs all of it: {made}"] if isinstance(made, str) else lines(kernel, made)
        out.append("")
    return "\n".join(out) or f"{name}: no kernels\n"


# ---------------------------------------------------------------- uniformity


def _uniformity(kernel: LoadedKernel, made: NativeStages) -> Iterator[str]:
    u, text = made.uniformity, PlanText(made.plan)
    yield f"{kernel.name}: {len(made.plan.segments)} segments{'; lanes may pass each other by' * made.apart}"
    for n, segment in enumerate(made.plan.segments):
        live = made.plan.live_in[n]
        yield f"  segment {n} of B{segment.block}: begins with uniform [{_slots(live & ~u.entry[n])}], varying [{_slots(live & u.entry[n])}]"
        for op, kinds in zip(segment.ops, u.before(n, u.entry[n])[1:], strict=True):
            yield f"    {_kind(u, n, op, kinds):8}{text.op(op)}"
        yield f"    {KINDS[u.condition(n)] if _asks(segment.end) else '':8}{text.end(segment)}".rstrip()


def _kind(u: Uniformity, n: int, op: P.Op, behind: int) -> str:
    """The kind of an operation's result, from the kinds behind it."""
    slots = targets(op.target)
    if not slots:
        return ""
    if any(kind_in(u.written_apart[n], slot) for slot in slots):
        return "apart"
    return KINDS[max(kind_in(behind, slot) for slot in slots)]


def _asks(end: P.End) -> bool:
    """Do lanes go different ways at an end?"""
    return isinstance(end, P.Table) or getattr(end, "guard", None) is not None or (isinstance(end, P.Call) and bool(end.ways))


# ---------------------------------------------------------------- cut


def _cut(kernel: LoadedKernel, made: NativeStages) -> Iterator[str]:
    found, text = made.cut, PlanText(made.plan)
    together = "blocks may run at the same time" if made.side_by_side else "one block runs after another"
    yield f"{kernel.name}: {len(found.rows)} rows; {together}"
    for row in found.rows:
        segment = made.plan.segments[row.segment]
        if row.number == found.first[row.segment]:
            yield f"  segment {row.segment} of B{segment.block}"
        yield f"    row {row.number}: {_row(row, made)}"
        if row.region is not None:
            for n in row.region.order:
                yield f"        segment {n}: {len(made.plan.segments[n].ops)} operations, begins with varying [{_slots(row.region.kinds[n])}]"
            waits = (
                ", or lanes have to wait for others" if any(isinstance(made.plan.segments[n].end, P.Sync) for n in row.region.order) else ""
            )
            yield f"        if an access fails{waits}, the rows of these segments run instead"
            continue
        if row.side is not None:
            yield f"        if an access is not legal, or may see another lane's store, the rows of segments {row.segment} and {row.side} run instead"
            continue
        if row.behind:
            yield f"        if an access is not legal, or may see another lane's store, rows {row.number + 1} to {row.behind - 1} run instead"
            continue
        for op in segment.ops[row.first : row.last]:
            yield f"        {text.op(op)}"
        after_call = row.kind == s.JUMP and found.rows[row.number - 1].kind == s.CALLOUT and isinstance(segment.end, P.Call)
        if row.first == len(segment.ops) and row.kind != s.RUN and not after_call:
            yield f"        {text.end(segment)}"


def _row(row: Row, made: NativeStages) -> str:
    """A row in a line."""
    why = f" ({row.why})" if row.why else ""
    if row.region is not None:
        lanes = "whose lanes may diverge" if row.region.diverges else "whose lanes stay together"
        return f"{row.name}: a warp runs segments {_numbers(row.region.order)} until {row.region.exit}, {lanes}; then the next warp"
    if row.side is not None:
        more, to = len(made.plan.segments[row.side].ops), made.cut.following(row)
        ahead = f"segment {to} follows" if not row.ahead else f"then {row.ahead} of segment {to}; row {row.behind} follows"
        return f"{row.name}, {row.last - row.first} operations, and segment {row.side} with {more}, for some lanes{why}; {ahead}"
    if row.behind:
        return f"{row.name}, {row.last - row.first} operations{why}; row {row.behind} follows"
    if row.kind == s.CALLOUT:
        return f"numpy{why}"
    if row.kind != s.RUN:
        return "numpy takes over the wave" if row.kind == s.LEAVE else ROWS[row.kind]
    how = ", in strips of lanes" if row.in_strips else ", also for whole warps" if row.is_small else ""
    needed, written = made.cut.needed(row), made.cut.written(row)
    kept = {kind: [slot for slot in dict.fromkeys(written) if kind in needed.get(slot, ())] for kind in range(2)}
    leaves = [f"{KINDS[kind]} [{_numbers(slots)}]" for kind, slots in kept.items() if slots]
    return f"{row.name}, {row.last - row.first} operations{how}{why}" + (f"; leaves {' and '.join(leaves)}" if leaves else "")


# ---------------------------------------------------------------- frame


def _frame(kernel: LoadedKernel, made: NativeStages) -> Iterator[str]:
    f, module = made.frame, made.module
    yield f"{kernel.name}: {f.size} bytes for each warp, {f.uniforms} for the uniform registers of a wave, {f.stack} of stack for each thread"
    names = _names(made.plan)
    for slot, at in sorted(f.offsets.items(), key=lambda item: item[1]):
        yield f"  {at:6}  slot {slot:<4} {f.width} x {f.dtypes[slot].name:8} {names.get(slot, 'the condition code')}"
    if f.saved < f.size and any(row.region for row in made.cut.rows):
        yield f"  {f.saved:6}  what a region puts back if it fails"
    if f.noted:
        yield f"  {f.notes:6}  how {f.noted} addresses lie that are checked together"
    for name, table in module.specials.items():
        yield f"  {name}: a value for {({'one': 'the launch', 'block': 'each block', 'lane': 'each lane of a block'})[table.extent]}"
    yield f"  {len(module.sites)} accesses remember the allocation that they used last"


def _names(plan: P.PlanFunction) -> dict[int, str]:
    """The registers that share each slot."""
    out: dict[int, dict[str, None]] = {}
    for home in plan.homes.values():
        for slot in range(home.slot, home.slot + home.width):
            out.setdefault(slot, {})[home.name] = None
    return {slot: " ".join(names) for slot, names in out.items()}


# ---------------------------------------------------------------- rows


def _rows(kernel: LoadedKernel, made: NativeStages) -> Iterator[str]:
    functions = list(made.module.functions)
    words = RowTable(made.cut, made.frame).write({name: n + 1 for n, name in enumerate(functions)}, 0)
    yield f"{kernel.name}: {len(made.cut.rows)} rows of {s.RowRecord.SIZE} words"
    for row in made.cut.rows:
        record = dict(zip(s.RowRecord.FIELDS, words[row.number * s.RowRecord.SIZE :].tolist(), strict=False))
        kind, code = record.pop("kind"), record.pop("code")
        fields = [ROWS[kind], *([functions[code - 1]] if code else [])]
        for name, value in record.items():
            count = record.get({"ways": "way_count", "inside": "inside_count", "exits": "exit_count", "heads": "head_count"}.get(name, ""))
            if count is not None:
                value = words[value : value + count * (2 if name == "heads" else 1)].tolist() if count else 0
            if value and not name.endswith("_count") and value != s.NOWHERE:
                fields.append(f"{name} {value if value != s.END else 'the end'}")
        yield f"  row {row.number}: {', '.join(fields)}"


# ---------------------------------------------------------------- code


def _llvm(kernel: LoadedKernel, made: NativeStages) -> Iterator[str]:
    module, by_name = made.module, {row.name: row for row in made.cut.rows}
    yield f"; {kernel.name}"
    yield from module.head
    yield module.helpers
    for name, text in module.functions.items():
        yield from ["", *_comments(by_name[name], made.plan), text]


def _comments(row: Row, plan: P.PlanFunction) -> Iterator[str]:
    """The instructions that a function executes."""
    pieces = [(row.segment, row.first, row.last)] if row.region is None else [(n, 0, len(plan.segments[n].ops)) for n in row.region.order]
    for n, first, last in pieces:
        segment = plan.segments[n]
        yield f"; {row.name}: segment {n} of B{segment.block}"
        yield from [f";   {statement(op.site.instruction)}" for op in segment.ops[first:last]]
        if row.region is not None and segment.site is not None:
            yield f";   {statement(segment.site.instruction)}"


def _assembly(kernel: LoadedKernel, made: NativeStages) -> Iterator[str]:
    from .jit import assembly  # here, since it loads llvmlite

    yield f"# {kernel.name}"
    yield assembly(made.module.text)


# ---------------------------------------------------------------- as JSON


def uniformity_json(data: bytes, name: str) -> str:
    """The same as JSON: by segment, the slots that vary where it begins and behind each operation, and those that lanes write apart."""
    return _json(data, name, _uniformity_facts)


def cut_json(data: bytes, name: str) -> str:
    """The rows, with their slots as lists."""
    return _json(data, name, _cut_facts)


def frame_json(data: bytes, name: str) -> str:
    """The places of slots."""
    return _json(data, name, _frame_facts)


def inlined_json(data: bytes, name: str) -> str:
    """As the stage plan."""
    return json.dumps([encoded(inlined_plan(kernel)) for kernel in kernels_of([load(data, name)])], indent=1) + "\n"


def _json(data: bytes, name: str, facts: Callable[[NativeStages], Mapping[str, Any]]) -> str:
    out = [
        {"kernel": kernel.name} | ({"numpy_runs_it_for": made} if isinstance(made, str) else dict(facts(made)))
        for kernel, made in _made(data, name)
    ]
    return json.dumps(out, indent=1) + "\n"


def _uniformity_facts(made: NativeStages) -> dict[str, Any]:
    u = made.uniformity
    return {"segments": [
        {"varying": [slots_of(kinds) for kinds in u.before(n, u.entry[n])], "written_apart": slots_of(u.written_apart[n]),
         "live": slots_of(made.plan.live_in[n]), "diverges": bool(_asks(segment.end) and u.condition(n))}
        for n, segment in enumerate(made.plan.segments)
    ]}  # fmt: skip


def _cut_facts(made: NativeStages) -> dict[str, Any]:
    return {"side_by_side": made.side_by_side, "rows": [
        {"row": row.number, "kind": ROWS[row.kind], "segment": row.segment, "first": row.first, "last": row.last, "live": slots_of(row.live),
         "varying": slots_of(row.kinds), "why": row.why, "in_strips": row.in_strips, "is_small": row.is_small,
         "region": None if row.region is None else {"order": row.region.order, "exit": row.region.exit, "diverges": row.region.diverges}}
        for row in made.cut.rows
    ]}  # fmt: skip


def _frame_facts(made: NativeStages) -> dict[str, Any]:
    f, module = made.frame, made.module
    specials = {name: {"extent": table.extent, "dtype": table.dtype.name} for name, table in module.specials.items()}
    return {
        "size": f.size,
        "uniforms": f.uniforms,
        "stack": f.stack,
        "offsets": dict(f.offsets),
        "specials": specials,
        "sites": len(module.sites),
    }


def _slots(mask: int) -> str:
    return _numbers(slots_of(mask))


def _numbers(numbers: Any) -> str:
    return " ".join(map(str, numbers))
