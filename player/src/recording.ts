// The questions to a recording, for warps: which steps they have, where each lane is, what it waits for.
import { LaneSet, WARP } from "./lanes";
import { type Dim3, type Instruction, type Layout, type Track, numberAt, elementOf } from "./track";

/** A warp, and the executions in which it takes part. */
export interface Warp {
  block: number;
  index: number; // in its block
  first: number; // its first lane
  count: number;
  executions: Int32Array;
  masks: Uint32Array; // which of its lanes take part in each
  start: Int32Array; // the steps that it has had before each: its own clock; one more entry for the end
  lastOf: Int32Array; // of each lane: the last of these executions, by its place in `executions`
}

export interface EventMark {
  step: number;
  kind: string;
  text: string;
  lanes: number; // a set
  mask: number; // an array
}

/** A recorded launch. */
export class Recording {
  readonly threads: number;
  readonly warpsPerBlock: number;
  readonly first: Float64Array; // step of each execution; one more entry for the end
  readonly stepCount: number;
  readonly events: EventMark[] = [];
  readonly blockOrder: number[]; // blocks that are recorded
  private readonly sets = new Map<number, LaneSet>();
  private readonly warps = new Map<number, Warp>();
  private readonly places = new Map<number, Map<number, Int32Array | null>>(); // by warp, by set
  private readonly setBlocks = new Map<number, Map<number, number>>();

  constructor(readonly track: Track) {
    const h = track.header;
    this.threads = h.block[0] * h.block[1] * h.block[2];
    this.warpsPerBlock = Math.ceil(this.threads / WARP);
    const n = track.executions.rows;
    this.first = new Float64Array(n + 1);
    for (let k = 0; k < n; k++) this.first[k + 1] = this.first[k] + track.executions.at(k, 3);
    this.stepCount = this.first[n];
    for (let k = 0; k < track.events.rows; k++) {
      const [kind, text] = h.events[k];
      const step = Math.min(this.first[track.events.at(k, 0)] + Math.max(track.events.at(k, 1), 0), Math.max(this.stepCount - 1, 0));
      this.events.push({ step, kind, text, lanes: track.events.at(k, 2), mask: track.events.at(k, 3) });
    }
    this.events.sort((a, b) => a.step - b.step);
    const blocks = new Set<number>();
    const seen = new Set<number>();
    for (let k = 0; k < n; k++) {
      const s = track.executions.at(k, 1);
      if (!seen.has(s)) {
        seen.add(s);
        for (const b of this.blocksOf(s).keys()) blocks.add(b);
      }
    }
    this.blockOrder = [...blocks].sort((a, b) => a - b);
  }

  // ---------------------------------------------------------------- threads

  set(n: number): LaneSet {
    let found = this.sets.get(n);
    if (!found) {
      found = new LaneSet(this.track, n, this.threads);
      this.sets.set(n, found);
    }
    return found;
  }

  setOf(execution: number): number {
    return this.track.executions.at(execution, 1);
  }

  blocksOf(set: number): Map<number, number> {
    let found = this.setBlocks.get(set);
    if (!found) {
      found = this.set(set).blocks();
      this.setBlocks.set(set, found);
    }
    return found;
  }

  blockName(block: number): Dim3 {
    const b = this.track.blocks;
    return [b[3 * block], b[3 * block + 1], b[3 * block + 2]];
  }

  threadName(lane: number): Dim3 {
    const t = lane % this.threads;
    const [x, y] = this.track.header.block;
    return [t % x, Math.floor(t / x) % y, Math.floor(t / (x * y))];
  }

  warpNumber(lane: number): number {
    return Math.floor(lane / this.threads) * this.warpsPerBlock + ((lane % this.threads) >> 5);
  }

  laneInWarp(lane: number): number {
    return lane % this.threads & 31;
  }

  /** Where a warp's lanes stand in a set. */
  placesIn(warp: Warp, set: number): Int32Array | null {
    const number = warp.block * this.warpsPerBlock + warp.index;
    let own = this.places.get(number);
    if (!own) {
      if (this.places.size > 64) this.places.clear();
      own = new Map();
      this.places.set(number, own);
    }
    let found = own.get(set);
    if (found === undefined) {
      found = this.blocksOf(set).has(warp.block) ? this.set(set).placesOf(warp.first, warp.count) : null;
      own.set(set, found);
    }
    return found;
  }

  warp(number: number): Warp {
    let w = this.warps.get(number);
    if (w) return w;
    const block = Math.floor(number / this.warpsPerBlock);
    const index = number % this.warpsPerBlock;
    const n = this.track.executions.rows;
    const executions = new Int32Array(n);
    const masks = new Uint32Array(n);
    w = {
      block, index, first: block * this.threads + index * WARP, count: Math.min(WARP, this.threads - index * WARP),
      executions, masks, start: new Int32Array(0), lastOf: new Int32Array(WARP).fill(-1),
    };
    const maskOf = new Map<number, number>();
    let count = 0;
    for (let k = 0; k < n; k++) {
      if (this.first[k + 1] === this.first[k]) continue;
      const set = this.setOf(k);
      let mask = maskOf.get(set);
      if (mask === undefined) {
        mask = 0;
        const places = this.placesIn(w, set);
        if (places) for (let lane = 0; lane < WARP; lane++) if (places[lane] >= 0) mask |= 1 << lane;
        maskOf.set(set, mask);
      }
      if (!mask) continue;
      executions[count] = k;
      masks[count] = mask;
      count++;
    }
    w.executions = executions.slice(0, count);
    w.masks = masks.slice(0, count);
    w.start = new Int32Array(count + 1);
    for (let k = 0; k < count; k++) {
      const e = w.executions[k];
      w.start[k + 1] = w.start[k] + this.first[e + 1] - this.first[e];
      for (let lane = 0; lane < WARP; lane++) if ((w.masks[k] >>> lane) & 1) w.lastOf[lane] = k;
    }
    if (this.warps.size > 256) this.warps.clear();
    this.warps.set(number, w);
    return w;
  }

  // ---------------------------------------------------------------- steps

  execution(step: number): number {
    return upper(this.first, step) - 1;
  }

  instructionNumber(step: number): number {
    const e = this.execution(Math.min(step, this.stepCount - 1));
    return this.layout(e).first + Math.min(step, this.stepCount - 1) - this.first[e];
  }

  instruction(step: number): Instruction {
    return this.track.header.instructions[this.instructionNumber(step)];
  }

  layout(execution: number): Layout {
    return this.track.layout(execution);
  }

  /** The place among a warp's executions of the first one that ends behind a step. */
  placeAt(w: Warp, step: number): number {
    let low = 0;
    let high = w.executions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.first[w.executions[middle] + 1] <= step) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The last step of a lane before an execution, such as the call that has set what is new there; -1: it is the first one. */
  stepBefore(w: Warp, lane: number, execution: number): number {
    for (let k = this.placeAt(w, this.first[execution]) - 1; k >= 0; k--) if ((w.masks[k] >>> lane) & 1) return this.first[w.executions[k] + 1] - 1;
    return -1;
  }

  /** A warp's own clock at a step: how many of its steps come before. */
  clock(w: Warp, step: number): number {
    const k = this.placeAt(w, step);
    if (k === w.executions.length) return w.start[k];
    return w.start[k] + Math.max(step - this.first[w.executions[k]], 0);
  }

  /** The step at a time of a warp's own clock. */
  stepAt(w: Warp, clock: number): number {
    if (clock >= w.start[w.executions.length]) return this.stepCount;
    const k = upper(w.start, Math.max(clock, 0)) - 1;
    return this.first[w.executions[k]] + Math.max(clock, 0) - w.start[k];
  }

  /** Which lanes of a warp the guard of a step lets take part. */
  guard(w: Warp, execution: number, step: number): number {
    const layout = this.layout(execution);
    const c = layout.columns.find((one) => one.role === "guard" && one.step === step);
    const places = this.placesIn(w, this.setOf(execution));
    if (!places) return 0;
    const set = this.set(this.setOf(execution));
    const kept = c ? this.track.value(execution, c.at) : null;
    let mask = 0;
    for (let lane = 0; lane < WARP; lane++) {
      const place = places[lane];
      if (place < 0) continue;
      const holds = !c || (kept !== null && (numberAt(kept.values, elementOf(kept.values, set.columns, place)) !== 0) !== c.negated);
      if (holds) mask |= 1 << lane;
    }
    return mask >>> 0;
  }

  isGuarded(execution: number): boolean {
    return this.layout(execution).columns.some((c) => c.role === "guard");
  }

  /** Is it a branch?  Those execute it for which its guard does not hold, too. */
  isBranch(execution: number, step: number): boolean {
    const { first, count } = this.layout(execution);
    return step === count - 1 && /^br(a|x)/.test(this.track.header.instructions[first + step].opcode);
  }

  /** Which lanes of a warp execute a step: those that take part, and for which its guard holds. */
  executing(w: Warp, execution: number, step: number): number {
    if (!this.isBranch(execution, step)) return this.guard(w, execution, step);
    const places = this.placesIn(w, this.setOf(execution));
    let mask = 0;
    for (let lane = 0; places && lane < WARP; lane++) if (places[lane] >= 0) mask |= 1 << lane;
    return mask >>> 0;
  }

  /** For each lane of a warp, the step in which it takes part next, or, where the launch ended early, took part last; -1 where it has ended. */
  nextSteps(w: Warp, step: number): Float64Array {
    const out = new Float64Array(WARP).fill(-1);
    let open = 0;
    const k0 = this.placeAt(w, step);
    for (let lane = 0; lane < w.count; lane++) if (w.lastOf[lane] >= k0) open |= 1 << lane;
    for (let k = k0; open && k < w.executions.length; k++) {
      const here = w.masks[k] & open;
      if (!here) continue;
      const at = Math.max(this.first[w.executions[k]], step);
      for (let lane = 0; lane < WARP; lane++) if ((here >>> lane) & 1) out[lane] = at;
      open &= ~here;
    }
    if (this.track.header.ended) {
      for (let lane = 0; lane < w.count; lane++) {
        const k = w.lastOf[lane];
        if (out[lane] >= 0 || k < 0) continue;
        const last = this.first[w.executions[k] + 1] - 1;
        if (!/^(ret|exit)/.test(this.instruction(last).opcode)) out[lane] = last; // it stands there for good
      }
    }
    return out;
  }

  /** The lanes of a warp that have not ended before a place among its executions. */
  living(w: Warp, place: number): number {
    let mask = 0;
    for (let lane = 0; lane < w.count; lane++) if (w.lastOf[lane] >= place) mask |= 1 << lane;
    return mask >>> 0;
  }

  /** The lanes of a warp to which an event happens; of a branch 0 unless they go different ways. */
  eventMask(w: Warp, e: EventMark): number {
    const places = this.placesIn(w, e.lanes);
    if (!places) return 0;
    const holds = this.set(e.lanes).flag(e.mask);
    let mask = 0;
    let every = 0;
    for (let lane = 0; lane < WARP; lane++) {
      if (places[lane] < 0) continue;
      every |= 1 << lane;
      if (holds(places[lane])) mask |= 1 << lane;
    }
    if (e.kind === "branch" && mask === every) return 0;
    return mask >>> 0;
  }

  /** What a warp waits for after a step, in words; "" where it does not. */
  waiting(w: Warp, step: number): string {
    const k = this.placeAt(w, step + 1);
    if (k < w.executions.length && this.first[w.executions[k]] <= step) return "";
    if (!k || (k === w.executions.length && !this.track.header.ended)) return "";
    const last = this.first[w.executions[k - 1] + 1] - 1;
    let why = "";
    for (let n = this.eventsBefore(step + 1) - 1; n >= 0 && this.events[n].step >= last; n--) {
      const e = this.events[n];
      if (e.kind === "met" && this.eventMask(w, e)) return "";
      if ((e.kind === "arrive" || (e.kind === "wait" && !why)) && this.eventMask(w, e)) why = e.text;
    }
    return why;
  }

  /** How many events come before a step. */
  eventsBefore(step: number): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle].step < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** How many numbers of an ordered row do not exceed one; the last number is the end, and is not counted. */
export function upper(row: Float64Array | Int32Array, wanted: number): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, row.length - 1);
}
