// What the lanes of a warp hold in a register before a step, and which step wrote it: columns.py's questions, for one warp.
import { WARP } from "./lanes";
import type { Recording, Warp } from "./recording";
import { type Column, bitsAt, elementOf } from "./track";

/** What each lane of a warp holds; `step` is -1 where nothing in the recording wrote it. */
export interface Held {
  bits: (bigint | null)[];
  step: Float64Array;
}

interface Writes {
  step: Float64Array;
  execution: Int32Array;
  which: Int32Array;
  columns: Column[];
}

/** A function, and how many calls are open. */
export interface Frame {
  function: string;
  depth: number;
}

export class Registers {
  private readonly known = new Map<string, Writes>();
  private byLayout: Map<number, number[]> | null = null;

  constructor(private readonly rec: Recording) {}

  frameOf(execution: number): Frame {
    return { function: this.rec.layout(execution).function, depth: this.rec.track.executions.at(execution, 2) };
  }

  /** The call that a warp's lane is in before a step. */
  frame(w: Warp, lane: number, step: number): Frame | null {
    const k = this.rec.placeAt(w, step);
    for (let n = k; n <= w.lastOf[lane]; n++) if ((w.masks[n] >>> lane) & 1) return this.frameOf(w.executions[n]);
    return w.lastOf[lane] >= 0 ? this.frameOf(w.executions[w.lastOf[lane]]) : null;
  }

  names(frame: Frame): string[] {
    return Object.keys(this.rec.track.header.registers[frame.function] ?? {});
  }

  type(frame: Frame, register: string): string {
    return this.rec.track.header.registers[frame.function]?.[register] ?? "b32";
  }

  held(w: Warp, register: string, step: number, frame: Frame): Held {
    const low = this.part(w, register, step, frame, 0);
    if (!["b128"].includes(this.type(frame, register))) return low;
    const high = this.part(w, register, step, frame, 1);
    return { bits: low.bits.map((b, n) => (b === null || high.bits[n] === null ? null : b | (high.bits[n] << 64n))), step: low.step };
  }

  private part(w: Warp, register: string, step: number, frame: Frame, part: number): Held {
    const out: Held = { bits: new Array<bigint | null>(WARP).fill(null), step: new Float64Array(WARP).fill(-1) };
    const since = frame.depth ? this.begun(w, step, frame.depth) : null;
    this.walk(w, this.writes(frame, register, part, "write"), step, since, out);
    this.walk(w, this.writes(frame, register, part, "unset"), step, since, out);
    return out;
  }

  private walk(w: Warp, writes: Writes, step: number, since: Float64Array | null, out: Held): void {
    let missing = 0;
    for (let lane = 0; lane < w.count; lane++) if (out.bits[lane] === null) missing++;
    let k = lowerBound(writes.step, step) - 1;
    for (; k >= 0 && missing; k--) {
      const e = writes.execution[k];
      const number = this.rec.setOf(e);
      const places = this.rec.placesIn(w, number);
      if (!places) continue;
      const c = writes.columns[writes.which[k]];
      const kept = this.rec.track.value(e, c.at);
      if (!kept) continue;
      const guard = c.role === "write" && c.step >= 0 ? this.rec.guard(w, e, c.step) : 0xffffffff;
      const columns = this.rec.set(number).columns;
      for (let lane = 0; lane < w.count; lane++) {
        if (out.bits[lane] !== null || places[lane] < 0 || !((guard >>> lane) & 1)) continue;
        if (since && writes.step[k] <= since[lane]) continue;
        let when = c.role === "write" ? writes.step[k] : -1;
        if (c.role === "write" && c.step < 0) {
          when = this.rec.stepBefore(w, lane, e);
          if (!this.gives(when, c.register, e)) continue;
        }
        out.bits[lane] = bitsAt(kept, elementOf(kept.values, columns, places[lane]));
        out.step[lane] = when;
        missing--;
      }
    }
  }

  /** Does a step give a register its value before an execution?  A call, a return, or what names it does; lanes come from other steps, too. */
  private gives(step: number, register: string, execution: number): boolean {
    const { rec } = this;
    const depth = (e: number): number => rec.track.executions.at(e, 2);
    return step < 0 || depth(rec.execution(step)) !== depth(execution) || rec.instruction(step).writes.includes(register);
  }

  /** The last step of each lane in which it was not yet in the call that it is in now. */
  private begun(w: Warp, step: number, depth: number): Float64Array {
    const out = new Float64Array(WARP).fill(-2);
    let open = 0xffffffff;
    for (let k = Math.min(this.rec.placeAt(w, step), w.executions.length - 1); k >= 0 && open; k--) {
      const e = w.executions[k];
      if (this.rec.track.executions.at(e, 2) >= depth || this.rec.first[e] >= step) continue;
      for (let lane = 0; lane < WARP; lane++) if ((w.masks[k] & open) >>> lane & 1) out[lane] = this.rec.first[e + 1] - 2;
      open &= ~w.masks[k];
    }
    return out;
  }

  private writes(frame: Frame, register: string, part: number, role: Column["role"]): Writes {
    const key = `${frame.function}|${register}|${frame.depth}|${part}|${role}`;
    let found = this.known.get(key);
    if (found) return found;
    const track = this.rec.track;
    if (!this.byLayout) {
      this.byLayout = new Map();
      for (let n = 0; n < track.executions.rows; n++) {
        const layout = track.executions.at(n, 0);
        const own = this.byLayout.get(layout);
        if (own) own.push(n);
        else this.byLayout.set(layout, [n]);
      }
    }
    const rows: [number, number, number][] = [];
    const columns: Column[] = [];
    track.header.layouts.forEach((layout, n) => {
      if (layout.function !== frame.function) return;
      for (const c of layout.columns) {
        if (c.register !== register || c.role !== role || c.part !== part) continue;
        for (const e of this.byLayout?.get(n) ?? []) {
          if (track.executions.at(e, 3) > c.step && track.executions.at(e, 2) === frame.depth) rows.push([this.rec.first[e] + c.step, e, columns.length]);
        }
        columns.push(c);
      }
    });
    if (columns.length > 1) rows.sort((a, b) => a[0] - b[0]);
    found = {
      step: Float64Array.from(rows, (r) => r[0]), execution: Int32Array.from(rows, (r) => r[1]), which: Int32Array.from(rows, (r) => r[2]), columns,
    };
    this.known.set(key, found);
    return found;
  }
}

function lowerBound(row: Float64Array, wanted: number): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
