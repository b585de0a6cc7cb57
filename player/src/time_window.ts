// What the picture of the lanes shows: which steps, from low to high, and which rows.
import type { Warp } from "./recording";
import type { Session } from "./session";

const MOST_ROWS = 64;

export interface Row {
  label: string;
  warp: Warp | null;
  block: number;
}

/** A stretch of the clock of the scope: of lanes it counts the steps of their warp, else those of the launch. */
export class TimeWindow {
  low = 0;
  high = 1;
  readonly hueOf = new Map<number, number>(); // which colour each side of a branch has: it keeps it when one zooms
  private fitted = "";

  constructor(private readonly s: Session) {}

  get length(): number {
    const w = this.s.warp;
    return Math.max(this.s.scope === "lanes" ? w.start[w.executions.length] : this.s.rec.stepCount, 1);
  }

  clockOf(step: number): number {
    return this.s.scope === "lanes" ? this.s.rec.clock(this.s.warp, step) : step;
  }

  stepOf(clock: number): number {
    const c = Math.min(Math.max(Math.floor(clock), 0), this.length - 1);
    return this.s.scope === "lanes" ? this.s.rec.stepAt(this.s.warp, c) : c;
  }

  zoom(factor: number, around = this.clockOf(this.s.step) + 0.5): void {
    const span = Math.min(Math.max((this.high - this.low) * factor, Math.min(8, this.length)), this.length);
    const share = (around - this.low) / (this.high - this.low);
    this.low = Math.min(Math.max(around - span * Math.min(Math.max(share, 0), 1), 0), this.length - span);
    this.high = this.low + span;
  }

  whole(): void {
    this.low = 0;
    this.high = this.length;
  }

  shift(by: number): void {
    const span = this.high - this.low;
    this.low = Math.min(Math.max(this.low + by, 0), this.length - span);
    this.high = this.low + span;
  }

  /** What is shown belongs to this; where that changes, all of it is shown.  Then the window goes where one looks. */
  fit(): string {
    const { s } = this;
    const key = `${s.scope}|${s.scope === "blocks" ? 0 : s.scope === "warps" ? s.warp.block : s.rec.warpNumber(s.lane)}`;
    if (key !== this.fitted && (this.fitted.split("|")[0] !== s.scope || this.high > this.length)) this.whole();
    if (key !== this.fitted) this.hueOf.clear();
    this.fitted = key;
    const here = this.here;
    if (here < this.low || here + 1 > this.high) this.shift(here < this.low ? here - this.low - 1 : here + 2 - this.high);
    return key;
  }

  /** Where one looks. */
  get here(): number {
    return Math.min(this.clockOf(this.s.step), this.length - 1);
  }

  rows(): Row[] {
    const { rec, warp, scope } = this.s;
    if (scope === "lanes") return Array.from({ length: warp.count }, (_, n) => ({ label: `lane ${n}`, warp, block: warp.block }));
    if (scope === "warps") {
      return Array.from({ length: rec.warpsPerBlock }, (_, n) => ({
        label: `warp ${n}`, warp: rec.warp(warp.block * rec.warpsPerBlock + n), block: warp.block,
      }));
    }
    const at = rec.blockOrder.indexOf(warp.block);
    const first = Math.max(Math.min(at - MOST_ROWS / 2, rec.blockOrder.length - MOST_ROWS), 0);
    return rec.blockOrder.slice(first, first + MOST_ROWS).map((block) => ({ label: this.blockLabel(block), warp: null, block }));
  }

  private blockLabel(block: number): string {
    const [x, y, z] = this.s.rec.blockName(block);
    const [, gy, gz] = this.s.rec.track.header.grid;
    return gz > 1 ? `${x},${y},${z}` : gy > 1 ? `${x},${y}` : `block ${x}`;
  }
}
