// Where a value comes from: the instruction that wrote it, what that read, and so on back.
import type { Change, Memory } from "./memory";
import type { Recording } from "./recording";
import type { Registers } from "./registers";
import type { Instruction } from "./track";
import { sizeOf, valueText } from "./values";

/** An element of memory. */
export interface Place {
  space: string;
  owner: number;
  address: number;
  size: number;
}

/** The step and lane that wrote a value; `place` where it is one of memory, `issued` where its instruction was executed earlier. */
export interface Writer {
  step: number;
  lane: number;
  issued?: number;
  place?: Place;
}

/** A value that an instruction has read, and the step and lane that wrote it; null: it was there before the launch. */
export interface ReadValue {
  name: string;
  text: string;
  from: Writer | null;
  isOperand: boolean; // not an address or a guard: the value is made of it
}

export interface Link {
  step: number;
  lane: number;
  instruction: Instruction;
  written: { name: string; text: string; place?: Place }[];
  read: ReadValue[];
}

const MOST = 64;

export class Slices {
  constructor(
    private readonly rec: Recording,
    private readonly registers: Registers,
    private readonly memory: Memory,
  ) {}

  /** What an instruction has read and written in a lane; of a call and a return only what has come to `wanted`. */
  link(step: number, lane: number, wanted?: Place): Link {
    const rec = this.rec;
    const w = rec.warp(rec.warpNumber(lane));
    const own = rec.laneInWarp(lane);
    const i = rec.instruction(step);
    const frame = this.registers.frameOf(rec.execution(step));
    const out: Link = { step, lane, instruction: i, written: [], read: [] };
    const isOutside = rec.events.some((e) => e.kind === "fault" && e.step === step);
    for (const name of i.guard ? [i.guard.replace("!", ""), ...i.reads] : i.reads) {
      const held = this.registers.held(w, name, step, frame);
      const bits = held.bits[own];
      if (bits === null) continue;
      const from = held.step[own] >= 0 ? { step: held.step[own], lane } : null;
      out.read.push({ name, text: valueText(bits, this.registers.type(frame, name)), from, isOperand: i.reads.includes(name) && !i.bases.includes(name) });
    }
    for (const name of i.writes) {
      const held = this.registers.held(w, name, step + 1, frame);
      if (held.bits[own] !== null && held.step[own] === step) {
        out.written.push({ name, text: valueText(held.bits[own], this.registers.type(frame, name)) });
      }
    }
    for (const a of this.memory.at(step)) {
      const places = rec.placesIn(w, a.set);
      const r = places && places[own] >= 0 ? this.memory.reacher(a)(rec.set(a.set), places[own]) : null;
      if (!r) continue;
      const type = rec.track.header.types[a.n];
      const each = Math.min(Math.max(sizeOf(type), 1), 8);
      for (let at = 0; at < a.size; at += each) {
        const o = this.memory.objectAt(r.space, r.address + at);
        const shown = o && sizeOf(o.type) === each ? o.type : type;
        const name = this.memory.nameOf(r.space, r.address + at);
        const text = (bits: bigint | null): string => (isOutside && !o ? "outside of every array" : bits === null ? "not recorded" : valueText(bits, shown));
        if (a.kind !== "st") {
          const found = this.memory.cell(r.space, r.owner, r.address + at, each, step);
          out.read.push({ name, text: text(found.bits), from: this.writer(found.from, r.space, r.owner, r.address + at, each), isOperand: true });
        }
        if (a.kind !== "ld") {
          const left = this.memory.leftAt(a, places ? places[own] : -1, at, each);
          const bits = left ?? this.memory.cell(r.space, r.owner, r.address + at, each, step + 1).bits;
          out.written.push({ name, text: text(bits), place: { space: r.space, owner: r.owner, address: r.address + at, size: each } });
        }
      }
    }
    this.passed(out, w.first + own, wanted);
    return out;
  }

  /** Who wrote an element of memory last before a step. */
  writerOf(space: string, owner: number, address: number, size: number, before: number): Writer | null {
    return this.writer(this.memory.lastWrite(space, owner, address, address + size, before), space, owner, address, size);
  }

  private writer(from: Change | null, space: string, owner: number, address: number, size: number): Writer | null {
    return from && { step: from.step, issued: from.issued, lane: from.lane, place: { space, owner, address, size } };
  }

  /** The value that a lane writes at a step, or else the first one that it reads: what one asks about at that step. */
  result(step: number, lane: number): { name: string; text: string; from: Writer | null } | null {
    const { written, read } = this.link(step, lane);
    if (written.length) {
      const { name, text, place } = written[written.length - 1];
      return { name, text, from: place ? { step, lane, place } : { step, lane } };
    }
    return read.find((r) => r.isOperand && r.from) ?? read[0] ?? null;
  }

  /** What a call or a return has copied between frames of a lane. */
  private passed(out: Link, lane: number, wanted?: Place): void {
    const w = this.rec.warp(this.rec.warpNumber(lane));
    for (const a of this.memory.passedAt(out.step)) {
      const places = this.rec.placesIn(w, a.set);
      const place = places ? places[this.rec.laneInWarp(lane)] : -1;
      const r = place < 0 ? null : this.memory.reacher(a)(this.rec.set(a.set), place);
      if (!r || (wanted && (wanted.space !== "local" || wanted.owner !== lane || wanted.address < a.low || wanted.address >= a.high))) continue;
      const start = r.address;
      const ends = wanted ? [wanted.address, wanted.address + wanted.size] : [start, start + a.size];
      for (let at = ends[0]; at < ends[1]; ) {
        const came = a.source < 0 ? null : this.memory.writtenAs(lane, a.source + at - start, out.step);
        const size = wanted ? wanted.size : Math.min(came?.size ?? 4, ends[1] - at);
        const type = wanted || !came ? `b${8 * size}` : came.type;
        if (a.source >= 0) {
          const from = this.memory.cell("local", lane, a.source + at - start, size, out.step);
          const name = this.memory.nameOf("local", a.source + at - start);
          const text = from.bits === null ? "not recorded" : valueText(from.bits, type);
          if (from.from || wanted) {
            out.read.push({ name, text, from: this.writer(from.from, "local", lane, a.source + at - start, size), isOperand: true });
          }
        }
        const left = this.memory.cell("local", lane, at, size, out.step + 1);
        if (left.bits !== null) out.written.push({ name: this.memory.nameOf("local", at), text: valueText(left.bits, type) });
        at += size;
      }
    }
  }

  /** The instructions that a value comes from, the last one first; addresses are not followed. */
  why(from: Writer): Link[] {
    const out = new Map<string, Link>();
    const seen = new Set<string>();
    const waiting = [executed(from)];
    while (waiting.length && out.size < MOST) {
      waiting.sort((a, b) => a.step - b.step);
      const next = waiting.pop();
      if (!next) continue;
      const at = `${next.step}|${next.lane}`;
      const wanted = this.memory.passedAt(next.step).length ? next.place : undefined;
      const key = `${at}|${wanted ? `${wanted.space}|${wanted.address}` : ""}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const one = this.link(next.step, next.lane, wanted);
      const known = out.get(at);
      if (known) {
        known.read.push(...one.read.filter((r) => !known.read.some((k) => k.name === r.name)));
        known.written.push(...one.written.filter((r) => !known.written.some((k) => k.name === r.name)));
      } else out.set(at, one);
      for (const r of one.read) if (r.from && r.isOperand) waiting.push(executed(r.from));
    }
    return [...out.values()].sort((a, b) => b.step - a.step || a.lane - b.lane);
  }
}

/** A writer at the step at which its instruction was executed. */
function executed(w: Writer): Writer {
  return { ...w, step: w.issued ?? w.step };
}

/** Why a value that was read has no writer. */
export function unwritten(name: string): string {
  return name.startsWith("%") ? "never written" : "before the launch";
}
