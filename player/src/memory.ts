// Memory at a step: what it held before the launch, and every access since that changed it; who wrote each byte last.
import type { LaneSet } from "./lanes";
import type { Recording } from "./recording";
import { type NamedCells, PAGE_BITS, bitsAt, elementOf, numberAt, rangeOf } from "./track";
import { sizeOf } from "./values";

/** The windows of the generic address space, as isa/spaces.py has them. */
export interface Windows {
  shared: number;
  local: number;
  size: number;
  offsetBits: number;
}

/** An access, its numbers at hand. */
export interface Access {
  n: number;
  step: number;
  kind: string;
  space: string;
  set: number;
  size: number; // bytes of a lane
  low: number; // the least address, and the end of the greatest
  high: number;
  instruction: number;
  source: number; // of what a call passes: where it was copied from; -1: it was in a register
}

/** Where one lane accesses memory. */
export interface Reach {
  space: string;
  owner: number; // the block of shared memory, the lane of local memory
  address: number;
}

/** A change of a cell: when, by which lane, and what it left. */
export interface Change {
  step: number;
  lane: number;
  bits: bigint | null;
  isLate?: boolean;
  issued: number; // the step whose instruction has caused it: under a seed a store may be done later
}

/** The bytes of a stretch of memory, and the change that wrote each element of them last. */
export interface Contents {
  bytes: Uint8Array;
  known: boolean;
  step: Int32Array; // by `unit` bytes: who wrote it; -1: nothing has
  lane: Int32Array;
  unit: number;
}

const SNAPSHOT = 24; // changes between two copies that are kept
const MOST = 64 << 20; // bytes of copies
const MOST_LOCAL = 1 << 20;

export class Memory {
  readonly accesses: Access[] = []; // in the order of time
  private readonly snapshots = new Map<string, { at: number; contents: Contents }[]>();
  private kept = 0;

  constructor(
    private readonly rec: Recording,
    private readonly windows: Windows,
  ) {
    const t = rec.track;
    for (let n = 0; n < t.accesses.rows; n++) {
      const v = t.array(t.accesses.at(n, 6));
      const delta = t.accesses.at(n, 7);
      const [low, high] = rangeOf(v);
      const size = sizeOf(t.header.types[n]) * t.accesses.at(n, 9);
      const execution = t.accesses.at(n, 0);
      const step = (execution < rec.first.length ? rec.first[execution] : rec.stepCount) + t.accesses.at(n, 1);
      this.accesses.push({
        n, step, kind: t.kind(n), space: t.space(n), set: t.accesses.at(n, 5), size, low: low + delta, high: high + delta + size,
        instruction: t.accesses.at(n, 2), source: t.accesses.at(n, 12),
      });
    }
    this.accesses.sort((a, b) => a.step - b.step || a.n - b.n);
    this.giveTypes();
    this.nameLocal();
  }

  /** Local memory of a thread has no names: it is one array of words, as far as it is used. */
  private nameLocal(): void {
    const used = Math.max(0, ...this.accesses.filter((a) => a.space === "local").map((a) => a.high));
    if (used && used <= MOST_LOCAL) {
      this.rec.track.header.objects.push({ name: "local", space: "local", start: 0, size: Math.ceil(used / 4) * 4, type: "b32", shape: [] });
    }
  }

  /** Arrays that are declared as bytes get the type as which they are accessed first. */
  private giveTypes(): void {
    const h = this.rec.track.header;
    const bytes = new Set(h.objects.filter((o) => o.type === "b8"));
    for (const a of this.accesses) {
      if (!bytes.size) return;
      const space = a.space.startsWith("shared") ? "shared" : "global";
      for (const o of bytes) {
        if (o.space !== space || a.low < o.start || a.low >= o.start + o.size) continue;
        bytes.delete(o);
        const type = h.types[a.n];
        if (o.size % sizeOf(type) === 0) Object.assign(o, { type, shape: [] });
      }
    }
  }

  /** The accesses of a step. */
  at(step: number): Access[] {
    const out: Access[] = [];
    for (let k = this.before(step); k < this.accesses.length && this.accesses[k].step === step; k++) {
      if (this.accesses[k].kind !== "call" && this.accesses[k].kind !== "late") out.push(this.accesses[k]);
    }
    return out;
  }

  /** What the call or the return of a step has put into frames. */
  passedAt(step: number): Access[] {
    const out: Access[] = [];
    for (let k = this.before(step); k < this.accesses.length && this.accesses[k].step === step; k++) {
      if (this.accesses[k].kind === "call") out.push(this.accesses[k]);
    }
    return out;
  }

  /** How many accesses come before a step. */
  before(step: number): number {
    let low = 0;
    let high = this.accesses.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.accesses[middle].step < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where a lane accesses memory, by its place in the access's set; null where it takes no part.  The answer is one object, which the next one changes. */
  reacher(a: Access): (set: LaneSet, place: number) => Reach | null {
    const t = this.rec.track;
    const v = t.array(t.accesses.at(a.n, 6));
    const delta = t.accesses.at(a.n, 7);
    const takesPart = this.rec.set(a.set).flag(t.accesses.at(a.n, 8));
    const w = this.windows;
    const [cx, cy, cz] = t.header.cluster;
    const cluster = cx * cy * cz;
    const out: Reach = { space: "global", owner: 0, address: 0 };
    const fixed = a.space.startsWith("shared") && a.space !== "shared::cluster" ? "shared" : a.space === "const" ? "global" : a.space;
    return (set, place) => {
      if (!set.isAlive(place) || !takesPart(place)) return null;
      const address = numberAt(v, elementOf(v, set.columns, place)) + delta;
      if (fixed === "global" || fixed === "shared" || fixed === "local") {
        out.space = fixed;
        out.owner = fixed === "global" ? 0 : fixed === "shared" ? set.blockAt(place) : set.number(place);
        out.address = address;
      } else if (a.space === "shared::cluster" || (address >= w.shared && address < w.shared + w.size)) {
        const at = a.space === "shared::cluster" ? address : address - w.shared;
        const rank = Math.floor(at / 2 ** w.offsetBits) & 255;
        const block = set.blockAt(place);
        out.space = "shared";
        out.owner = rank ? Math.floor(block / cluster) * cluster + rank - 1 : block;
        out.address = at % 2 ** w.offsetBits;
      } else {
        const isLocal = address >= w.local && address < w.local + w.size;
        out.space = isLocal ? "local" : "global";
        out.owner = isLocal ? set.number(place) : 0;
        out.address = isLocal ? address - w.local : address;
      }
      return out;
    };
  }

  private touches(a: Access, o: NamedCells): boolean {
    if (a.kind === "ld") return false;
    const generic = a.space === "generic" || a.space === "shared::cluster" || a.space.startsWith("param");
    if (generic && a.high >= this.windows.local) return true;
    if (generic && a.space === "shared::cluster") return o.space === "shared";
    const space = generic ? "global" : a.space.startsWith("shared") ? "shared" : a.space === "const" ? "global" : a.space;
    return space === o.space && a.low < o.start + o.size && a.high > o.start;
  }

  /** An object before a step; of shared memory that of a block, of local memory that of a lane. */
  contents(o: NamedCells, owner: number, step: number): Contents {
    const key = `${o.space}|${o.start}|${o.size}|${o.space === "global" ? 0 : owner}`;
    const end = this.before(step);
    let own = this.snapshots.get(key);
    if (!own) {
      own = [{ at: 0, contents: this.initial(o, owner) }];
      this.snapshots.set(key, own);
    }
    let start = own[0];
    for (const s of own) if (s.at <= end && s.at > start.at) start = s;
    if (start.at > end) start = own[0];
    const out = copyOf(start.contents);
    let applied = 0;
    for (let k = start.at; k < end; k++) {
      const a = this.accesses[k];
      if (!this.touches(a, o)) continue;
      this.apply(a, o, owner, out);
      if (++applied % SNAPSHOT === 0 && this.kept + out.bytes.length < MOST) {
        own.push({ at: k + 1, contents: copyOf(out) });
        this.kept += out.bytes.length;
      }
    }
    return out;
  }

  private initial(o: NamedCells, owner: number): Contents {
    const t = this.rec.track;
    const unit = Math.max(sizeOf(o.type), 1);
    const count = Math.ceil(o.size / unit);
    const out: Contents = {
      bytes: new Uint8Array(o.size), known: true, step: new Int32Array(count).fill(-1), lane: new Int32Array(count).fill(-1), unit,
    };
    if (o.space === "shared") {
      const n = t.shared.get(owner);
      if (n !== undefined) out.bytes.set(t.array(n).bytes.subarray(o.start, o.start + o.size));
    }
    if (o.space !== "global" || !o.size) return out;
    const page = 2 ** PAGE_BITS;
    for (let p = Math.floor(o.start / page); p * page < o.start + o.size; p++) {
      const n = t.pages.get(p);
      if (n === undefined) {
        out.known = false;
        continue;
      }
      const low = Math.max(o.start, p * page);
      const high = Math.min(o.start + o.size, (p + 1) * page);
      out.bytes.set(t.array(n).bytes.subarray(low - p * page, high - p * page), low - o.start);
    }
    return out;
  }

  private apply(a: Access, o: NamedCells, owner: number, out: Contents): void {
    const set = this.rec.set(a.set);
    const reach = this.reacher(a);
    const left = this.rec.track.left(a.n);
    for (let place = 0; place < set.size; place++) {
      const r = reach(set, place);
      if (!r || r.space !== o.space || (o.space !== "global" && r.owner !== owner)) continue;
      let at = r.address - o.start;
      for (const kept of left) {
        const v = kept.values;
        const n = elementOf(v, set.columns, place);
        if (at + v.size > 0 && at < o.size) {
          const bits = kept.delta ? bitsAt(kept, n) : 0n;
          for (let k = 0; k < v.size; k++) {
            if (at + k < 0 || at + k >= o.size) continue;
            out.bytes[at + k] = kept.delta ? Number((bits >> BigInt(8 * k)) & 255n) : v.bytes[n * v.size + k];
          }
          const cell = Math.floor(Math.max(at, 0) / out.unit);
          const last = Math.floor(Math.min(at + v.size - 1, o.size - 1) / out.unit);
          for (let c = cell; c <= last; c++) {
            out.step[c] = a.step;
            out.lane[c] = set.number(place);
          }
        }
        at += v.size;
      }
    }
  }

  /** The object that holds an address. */
  objectAt(space: string, address: number): NamedCells | null {
    return this.rec.track.header.objects.find((o) => o.space === space && o.start <= address && address < o.start + o.size) ?? null;
  }

  nameOf(space: string, address: number): string {
    const o = this.objectAt(space, address);
    if (!o) return `${space}[0x${address.toString(16)}]`;
    const size = Math.max(sizeOf(o.type), 1);
    const rest = (address - o.start) % size;
    return `${o.name}[${Math.floor((address - o.start) / size)}]${rest ? `+${rest}` : ""}`;
  }

  /** What a cell of up to 8 bytes holds before a step, and the change that left it; null where memory is not recorded. */
  cell(space: string, owner: number, start: number, size: number, before: number): { bits: bigint | null; from: Change | null } {
    const from = this.lastWrite(space, owner, start, start + size, before);
    if (from?.bits != null) return { bits: from.bits, from };
    const whole: NamedCells = { name: "", space, start, size, type: `b${8 * size}`, shape: [] };
    const c = from ? this.contents(whole, owner, before) : this.initial(whole, owner);
    return { bits: c.known ? elementBits(c.bytes, 0, size) : null, from };
  }

  /** The step at which a lane has executed the store that access `late` has done. */
  private issued(late: number, lane: number, address: number, size: number, bits: bigint | null): number {
    const w = this.rec.warp(this.rec.warpNumber(lane));
    for (let k = late - 1; k >= 0; k--) {
      const a = this.accesses[k];
      if (a.kind === "ld" || a.kind === "call" || a.kind === "late" || a.size !== size) continue;
      const place = this.rec.placesIn(w, a.set)?.[this.rec.laneInWarp(lane)] ?? -1;
      const r = place < 0 ? null : this.reacher(a)(this.rec.set(a.set), place);
      if (r?.address !== address) continue;
      const [first] = this.rec.track.stored(a.n);
      const own = bitsAt(first, elementOf(first.values, this.rec.set(a.set).columns, place));
      if (bits === null || first.values.size !== size || own === bits) return a.step;
    }
    return this.accesses[late].step;
  }

  /** What an access left in an element of a lane: the bits of `size` bytes, `at` bytes behind where the lane accesses memory. */
  leftAt(a: Access, place: number, at: number, size: number): bigint | null {
    const set = this.rec.set(a.set);
    let here = 0;
    for (const kept of this.rec.track.left(a.n)) {
      if (here === at && kept.values.size === size) return bitsAt(kept, elementOf(kept.values, set.columns, place));
      here += kept.values.size;
    }
    return null;
  }

  /** Every change of some bytes, in the order of time. */
  writers(space: string, owner: number, start: number, end: number): Change[] {
    const whole: NamedCells = { name: "", space, start, size: end - start, type: "b8", shape: [] };
    const out: Change[] = [];
    const late = new Set<string>();
    this.accesses.forEach((a, k) => {
      if (!this.touches(a, whole)) return;
      const set = this.rec.set(a.set);
      const reach = this.reacher(a);
      for (let place = 0; place < set.size; place++) {
        const r = reach(set, place);
        if (!r || r.space !== space || (space !== "global" && r.owner !== owner) || r.address >= end || r.address + a.size <= start) continue;
        const bits = this.leftAt(a, place, start - r.address, end - start);
        const lane = set.number(place);
        const isLate = a.kind === "late";
        const issued = isLate ? this.issued(k, lane, r.address, a.size, bits) : a.step;
        if (isLate) late.add(`${issued}|${lane}`);
        out.push({ step: a.step, lane, bits, issued, ...(isLate ? { isLate } : {}) });
      }
    });
    return out.filter((one) => one.isLate || !late.has(`${one.step}|${one.lane}`)); // a store that is done later has changed nothing before
  }

  /** The type and size of the element that was stored last at an address of a lane's stack; null where nothing was. */
  writtenAs(lane: number, address: number, before: number): { type: string; size: number } | null {
    for (let k = this.before(before) - 1; k >= 0; k--) {
      const a = this.accesses[k];
      if (a.kind === "ld" || a.low > address || a.high <= address) continue;
      const found = this.lastWrite("local", lane, address, address + 1, a.step + 1);
      if (found?.step !== a.step) continue;
      const type = this.rec.track.header.types[a.n];
      return { type, size: sizeOf(type) > 8 ? 4 : sizeOf(type) };
    }
    return null;
  }

  /** The last change of bytes before a step; its bits where the change has these bytes as one element. */
  lastWrite(space: string, owner: number, start: number, end: number, before: number): Change | null {
    const whole: NamedCells = { name: "", space, start, size: end - start, type: "b8", shape: [] };
    for (let k = this.before(before) - 1; k >= 0; k--) {
      const a = this.accesses[k];
      if (!this.touches(a, whole)) continue;
      const set = this.rec.set(a.set);
      const reach = this.reacher(a);
      for (let place = set.size - 1; place >= 0; place--) {
        const r = reach(set, place);
        if (r && r.space === space && (space === "global" || r.owner === owner) && r.address < end && r.address + a.size > start) {
          const bits = this.leftAt(a, place, start - r.address, end - start);
          const lane = set.number(place);
          return { step: a.step, lane, bits, issued: a.kind === "late" ? this.issued(k, lane, r.address, a.size, bits) : a.step };
        }
      }
    }
    return null;
  }
}

function copyOf(c: Contents): Contents {
  return { ...c, bytes: c.bytes.slice(), step: c.step.slice(), lane: c.lane.slice() };
}

/** An element of some bytes. */
export function elementBits(bytes: Uint8Array, at: number, size: number): bigint {
  let bits = 0n;
  for (let k = Math.min(size, bytes.length - at) - 1; k >= 0; k--) bits = (bits << 8n) | BigInt(bytes[at + k]);
  return bits;
}
