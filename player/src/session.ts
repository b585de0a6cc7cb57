// Where one looks: a step and a lane of a recording; every panel listens.  What is shown is the state after the step, so that its results are seen.
import { Memory, type Windows } from "./memory";
import { Recording, type Warp } from "./recording";
import { type Frame, Registers } from "./registers";
import { Slices, type Writer } from "./slices";
import type { Track } from "./track";

/** What the page knows beside the recording. */
export interface Extras {
  title: string;
  sources: Record<string, string>;
  windows: Windows;
  costs: { device: string; counts: Record<string, number[]> };
  note: string; // what is left out
  start: { step: number; lane: number } | null;
}

export type Scope = "lanes" | "warps" | "blocks";

/** A value that was clicked. */
export interface Chosen {
  name: string;
  text: string;
  lane: number;
  from: Writer | null;
  why: boolean; // its slice is asked for
  all?: boolean; // every write of it is asked for, and not its slice
}

export class Session {
  readonly rec: Recording;
  readonly registers: Registers;
  readonly memory: Memory;
  readonly slices: Slices;
  step = 0;
  lane = 0;
  scope: Scope = "lanes";
  chosen: Chosen | null = null;
  private readonly listeners: (() => void)[] = [];
  private readonly visited: { step: number; lane: number }[] = [];
  private asked = false;

  constructor(
    track: Track,
    readonly extras: Extras,
  ) {
    this.rec = new Recording(track);
    this.registers = new Registers(this.rec);
    this.memory = new Memory(this.rec, extras.windows);
    this.slices = new Slices(this.rec, this.registers, this.memory);
    this.lane = (this.rec.blockOrder[0] ?? 0) * this.rec.threads;
  }

  get warp(): Warp {
    return this.rec.warp(this.rec.warpNumber(this.lane));
  }

  get own(): number {
    return this.rec.laneInWarp(this.lane);
  }

  get frame(): Frame | null {
    return this.registers.frame(this.warp, this.own, this.step);
  }

  /** The step that the lane executes next; -1 where it has ended. */
  get next(): number {
    return this.rec.nextSteps(this.warp, this.step)[this.own];
  }

  listen(f: () => void): void {
    this.listeners.push(f);
  }

  /** Everything is drawn again, once a frame. */
  changed(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      for (const f of this.listeners) f();
    });
  }

  /** Goes to a step, and to a lane where one is named; a jump can be taken back. */
  go(step: number, lane = this.lane, jump = false): void {
    const s = Math.max(Math.min(Math.round(step), this.rec.stepCount - 1), 0);
    if (jump && (s !== this.step || lane !== this.lane)) this.visited.push({ step: this.step, lane: this.lane });
    this.step = s;
    this.lane = lane;
    this.changed();
  }

  back(): void {
    const last = this.visited.pop();
    if (last) this.go(last.step, last.lane);
  }

  /** So many steps of the warp forwards, or backwards. */
  stepBy(count: number): void {
    const w = this.warp;
    const clock = this.rec.clock(w, this.step);
    const isBefore = this.rec.stepAt(w, clock) > this.step; // the warp takes no part in this step: its next one is one ahead
    const last = w.start[w.executions.length] - 1;
    this.go(this.rec.stepAt(w, Math.min(Math.max(clock + count - (isBefore && count > 0 ? 1 : 0), 0), last)));
  }

  laneBy(count: number): void {
    const own = Math.min(Math.max(this.own + count, 0), this.warp.count - 1);
    this.go(this.step, this.warp.first + own);
  }

  warpBy(count: number): void {
    const number = this.rec.warpNumber(this.lane) + count;
    const block = Math.floor(number / this.rec.warpsPerBlock);
    if (number < 0 || !this.rec.blockOrder.includes(block)) return this.blockBy(Math.sign(count));
    const w = this.rec.warp(number);
    this.go(this.step, w.first + Math.min(this.own, w.count - 1));
  }

  blockBy(count: number): void {
    const order = this.rec.blockOrder;
    const at = order.indexOf(Math.floor(this.lane / this.rec.threads)) + count;
    if (at >= 0 && at < order.length) this.go(this.step, order[at] * this.rec.threads + (this.lane % this.rec.threads));
  }

  /** The nearest event of the warp behind this step, or before it: divergence, a barrier, a fault, a finding. */
  eventBy(way: 1 | -1): void {
    const { rec, warp } = this;
    let n = way > 0 ? rec.eventsBefore(this.step + 1) : rec.eventsBefore(this.step) - 1;
    for (; n >= 0 && n < rec.events.length; n += way) {
      const e = rec.events[n];
      if (e.step !== this.step && rec.eventMask(warp, e)) return this.go(e.step, this.lane, true);
    }
  }

  /** The warp's next step, or previous one, whose instruction is wanted. */
  search(wanted: (instruction: number) => boolean, way: 1 | -1): boolean {
    const { rec, warp } = this;
    const has = new Map<number, boolean>();
    const matches = (layout: number): boolean => {
      let m = has.get(layout);
      if (m === undefined) {
        const one = rec.track.header.layouts[layout];
        m = false;
        for (let k = 0; k < one.count && !m; k++) m = wanted(one.first + k);
        has.set(layout, m);
      }
      return m;
    };
    for (let k = Math.min(rec.placeAt(warp, this.step), warp.executions.length - 1); k >= 0 && k < warp.executions.length; k += way) {
      const e = warp.executions[k];
      if (!matches(rec.track.executions.at(e, 0))) continue;
      const low = rec.first[e];
      const high = rec.first[e + 1] - 1;
      for (let s = way > 0 ? low : high; s >= low && s <= high; s += way) {
        if (way > 0 ? s <= this.step : s >= this.step) continue;
        if (!wanted(rec.layout(e).first + s - low)) continue;
        const takesPart = (warp.masks[k] >>> this.own) & 1;
        const lane = takesPart ? this.lane : warp.first + (31 - Math.clz32(warp.masks[k] & -warp.masks[k]));
        this.go(s, lane, true);
        return true;
      }
    }
    return false;
  }

  /** Where the value comes from that the lane writes at this step; of a chosen value, its slice. */
  why(): void {
    const found = this.chosen ?? this.slices.result(this.step, this.lane);
    if (found) this.chosen = { name: found.name, text: found.text, lane: this.lane, from: found.from, why: true };
    this.changed();
  }

  /** Every write of the element that is chosen, or that the lane accesses at this step. */
  writers(): void {
    const found = this.chosen ?? this.slices.result(this.step, this.lane);
    if (found?.from?.place) this.chosen = { name: found.name, text: found.text, lane: this.lane, from: found.from, why: false, all: true };
    this.changed();
  }

  /** A value is clicked: the first click goes to the step that wrote it, the second one asks for its slice. */
  choose(name: string, text: string, lane: number, from: Writer | null): void {
    const same = this.chosen !== null && this.chosen.name === name && this.chosen.lane === lane && this.chosen.from?.step === from?.step;
    if (same && from) {
      this.chosen = { name, text, lane, from, why: true };
      this.changed();
      return;
    }
    const isHere = from !== null && from.step === this.step && from.lane === this.lane; // there is nowhere to go first
    this.chosen = { name, text, lane, from, why: isHere };
    if (from) this.go(from.step, from.lane, true);
    else this.changed();
  }
}
