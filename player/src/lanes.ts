// Sets of lanes that executed something together.
import { type Track, type Values, elementOf, numberAt } from "./track";

export const WARP = 32;

/** A set of lanes, by their numbers in the launch: block * threads of a block + thread. */
export class LaneSet {
  readonly rows: number;
  readonly columns: number;
  private readonly block: Values;
  private readonly thread: Values;
  private readonly alive: Values | null;
  private readonly isProduct: boolean;
  private map: Map<number, number> | null = null;

  constructor(
    private readonly track: Track,
    n: number,
    readonly threads: number,
  ) {
    const t = track.lanes;
    this.rows = t.at(n, 0);
    this.columns = t.at(n, 1);
    this.block = track.array(t.at(n, 2));
    this.thread = track.array(t.at(n, 3));
    this.alive = track.maybe(t.at(n, 4));
    this.isProduct = this.block.columns === 1 && this.thread.rows === 1 && this.block.rows === this.rows && this.thread.columns === this.columns;
  }

  get size(): number {
    return this.rows * this.columns;
  }

  blockAt(place: number): number {
    return numberAt(this.block, elementOf(this.block, this.columns, place));
  }

  number(place: number): number {
    return this.blockAt(place) * this.threads + numberAt(this.thread, elementOf(this.thread, this.columns, place));
  }

  isAlive(place: number): boolean {
    return this.alive === null || numberAt(this.alive, elementOf(this.alive, this.columns, place)) !== 0;
  }

  /** Where a warp's lanes stand; null where none of them is here. */
  placesOf(first: number, count: number): Int32Array | null {
    const out = new Int32Array(WARP).fill(-1);
    let any = false;
    const put = (lane: number, place: number): void => {
      if (place >= 0 && this.isAlive(place)) {
        out[lane] = place;
        any = true;
      }
    };
    if (this.isProduct) {
      const block = Math.floor(first / this.threads);
      const row = find(this.block, this.rows, block);
      if (row < 0) return null;
      const t = first % this.threads;
      for (let k = lower(this.thread, this.columns, t); k < this.columns; k++) {
        const thread = numberAt(this.thread, k);
        if (thread >= t + count) break;
        put(thread - t, row * this.columns + k);
      }
    } else {
      if (!this.map) {
        this.map = new Map();
        for (let p = 0; p < this.size; p++) this.map.set(this.number(p), p);
      }
      for (let k = 0; k < count; k++) put(k, this.map.get(first + k) ?? -1);
    }
    return any ? out : null;
  }

  /** The blocks that have lanes here, and how many. */
  blocks(): Map<number, number> {
    const out = new Map<number, number>();
    if (this.isProduct && this.alive === null) {
      for (let r = 0; r < this.rows; r++) out.set(numberAt(this.block, r), this.columns);
      return out;
    }
    if (this.isProduct && this.alive?.rows === this.rows && this.alive.columns === this.columns) {
      const alive = this.alive.bytes; // there are many such sets: lanes leave a loop one after the other
      for (let r = 0, p = 0; r < this.rows; r++) {
        let lanes = 0;
        for (const end = p + this.columns; p < end; p++) lanes += alive[p];
        if (lanes) out.set(numberAt(this.block, r), lanes);
      }
      return out;
    }
    for (let p = 0; p < this.size; p++) {
      if (!this.isAlive(p)) continue;
      const b = this.blockAt(p);
      out.set(b, (out.get(b) ?? 0) + 1);
    }
    return out;
  }

  /** A mask of the lanes in one of the file's arrays. */
  flag(n: number): (place: number) => boolean {
    const v = this.track.maybe(n);
    return v === null ? () => true : (place) => numberAt(v, elementOf(v, this.columns, place)) !== 0;
  }
}

function lower(v: Values, count: number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numberAt(v, middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function find(v: Values, count: number, wanted: number): number {
  const n = lower(v, count, wanted);
  return n < count && numberAt(v, n) === wanted ? n : -1;
}
