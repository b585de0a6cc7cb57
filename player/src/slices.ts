// Where a value comes from: the instruction that wrote it, what that read, and so on back.
import type { Memory } from "./memory";
import type { Recording } from "./recording";
import type { Registers } from "./registers";
import type { Instruction } from "./track";
import { sizeOf, valueText } from "./values";

/** A value that an instruction has read, and the step and lane that wrote it; null: it was there before the launch. */
export interface ReadValue {
  name: string;
  text: string;
  from: { step: number; lane: number } | null;
  isOperand: boolean; // not an address or a guard: the value is made of it
}

export interface Link {
  step: number;
  lane: number;
  instruction: Instruction;
  written: { name: string; text: string }[];
  read: ReadValue[];
}

const MOST = 64;

export class Slices {
  constructor(
    private readonly rec: Recording,
    private readonly registers: Registers,
    private readonly memory: Memory,
  ) {}

  /** What an instruction has read and written in a lane. */
  link(step: number, lane: number): Link {
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
          out.read.push({ name, text: text(found.bits), from: found.from, isOperand: true });
        }
        if (a.kind !== "ld") {
          const left = this.memory.leftAt(a, places ? places[own] : -1, at, each);
          out.written.push({ name, text: text(left ?? this.memory.cell(r.space, r.owner, r.address + at, each, step + 1).bits) });
        }
      }
    }
    return out;
  }

  /** The instructions that a value comes from, the last one first; addresses are not followed. */
  why(step: number, lane: number): Link[] {
    const out = new Map<string, Link>();
    const waiting = [{ step, lane }];
    while (waiting.length && out.size < MOST) {
      waiting.sort((a, b) => a.step - b.step);
      const next = waiting.pop();
      if (!next || out.has(`${next.step}|${next.lane}`)) continue;
      const one = this.link(next.step, next.lane);
      out.set(`${next.step}|${next.lane}`, one);
      for (const r of one.read) if (r.from && r.isOperand) waiting.push(r.from);
    }
    return [...out.values()].sort((a, b) => b.step - a.step || a.lane - b.lane);
  }
}
