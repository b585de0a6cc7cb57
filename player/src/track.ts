// What a recording file holds, as ../../runtime/recording/files.py writes it.  Arrays are views of the file's bytes, made when they are first asked for.
import { type NumpyArray, NumberTable } from "./unpack";

export interface Instruction {
  function: string;
  module: number;
  line: number;
  column: number;
  text: string;
  opcode: string;
  source: string;
  guard: string;
  reads: string[];
  bases: string[];
  writes: string[];
}

export interface Column {
  step: number;
  register: string;
  role: "write" | "guard" | "unset";
  part: number;
  at: number;
  negated: boolean;
}

export interface Layout {
  function: string;
  pc: number;
  first: number;
  count: number;
  kept: number;
  columns: Column[];
}

export interface NamedCells {
  name: string;
  space: string;
  start: number;
  size: number;
  type: string;
  shape: number[];
}

export type Dim3 = [number, number, number];

interface Header {
  kernel: string;
  grid: Dim3;
  block: Dim3;
  cluster: Dim3;
  device: string;
  options: Record<string, string>;
  texts: [string, string][];
  objects: NamedCells[];
  instructions: Instruction[];
  registers: Record<string, Record<string, string>>;
  layouts: Layout[];
  types: string[];
  events: [string, string][];
  ended: string;
  stopped: boolean;
}

/** Values of lanes: rows and columns, or one that stands for all; `size` in bytes. */
export interface Values {
  bytes: Uint8Array;
  size: number;
  rows: number;
  columns: number;
}

/** A value that is kept: an array, and what is added to each of its elements. */
export interface Kept {
  values: Values;
  delta: number;
}

const SIZES = [1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8]; // of files.DTYPES
export const KINDS = ["ld", "st", "atom", "red", "call", "late"] as const;
const SPACES = ["global", "const", "shared", "shared::cta", "shared::cluster", "local", "generic", "param", "param::entry", "param::func"];
export const PAGE_BITS = 16;

/** The tables of a file. */
export class Track {
  readonly header: Header;
  readonly executions: NumberTable;
  readonly accesses: NumberTable;
  readonly lanes: NumberTable;
  readonly events: NumberTable;
  readonly pages = new Map<number, number>(); // arrays by address >> PAGE_BITS
  readonly shared = new Map<number, number>(); // arrays by block
  readonly blocks: Int32Array;
  readonly kept: Uint8Array;
  private readonly values: NumberTable;
  private readonly valueStart: Float64Array; // of each execution
  private readonly after: NumberTable;
  private readonly afterStart: Float64Array; // of each access
  private readonly arrays: NumberTable;
  private readonly blob: Uint8Array;

  constructor(files: Map<string, NumpyArray>) {
    const file = (name: string): NumpyArray => {
      const found = files.get(name);
      if (!found) throw new Error("the recording in this page is damaged");
      return found;
    };
    const table = (name: string): NumberTable => new NumberTable(file(name));
    this.header = JSON.parse(new TextDecoder().decode(file("header").bytes)) as Header;
    this.executions = table("executions");
    this.accesses = table("accesses");
    this.lanes = table("lanes");
    this.events = table("events");
    this.values = table("values");
    this.after = table("after");
    this.arrays = table("arrays");
    this.blob = file("blob").bytes;
    this.kept = file("kept").bytes;
    const blocks = file("blocks").bytes;
    this.blocks = new Int32Array(blocks.buffer, blocks.byteOffset, blocks.length / 4);
    for (const [name, found] of [["pages", this.pages], ["shared", this.shared]] as const) {
      const t = table(name);
      for (let n = 0; n < t.rows; n++) found.set(t.at(n, 0), t.at(n, 1));
    }
    this.valueStart = new Float64Array(this.executions.rows + 1);
    for (let n = 0; n < this.executions.rows; n++) this.valueStart[n + 1] = this.valueStart[n] + this.layout(n).kept;
    this.afterStart = new Float64Array(this.accesses.rows + 1);
    for (let n = 0; n < this.accesses.rows; n++) this.afterStart[n + 1] = this.afterStart[n] + this.accesses.at(n, 10) + this.accesses.at(n, 11);
  }

  layout(execution: number): Layout {
    return this.header.layouts[this.executions.at(execution, 0)];
  }

  array(n: number): Values {
    const rows = this.arrays.at(n, 2);
    const columns = this.arrays.at(n, 3);
    const size = SIZES[this.arrays.at(n, 1)];
    const at = this.arrays.at(n, 0);
    return { bytes: this.blob.subarray(at, at + rows * columns * size), size, rows, columns };
  }

  maybe(n: number): Values | null {
    return n < 0 ? null : this.array(n);
  }

  /** A value that an execution has left. */
  value(execution: number, at: number): Kept | null {
    const row = this.valueStart[execution] + at;
    const n = this.values.at(row, 0);
    return n < 0 ? null : { values: this.array(n), delta: this.values.at(row, 1) };
  }

  /** What memory holds behind an access: an array for each element of a lane. */
  left(access: number): Kept[] {
    return this.keptFrom(this.afterStart[access], this.accesses.at(access, 10));
  }

  /** What an access stores, where that may become visible later; else what it left. */
  stored(access: number): Kept[] {
    const later = this.accesses.at(access, 11);
    return later ? this.keptFrom(this.afterStart[access] + this.accesses.at(access, 10), later) : this.left(access);
  }

  private keptFrom(first: number, count: number): Kept[] {
    return Array.from({ length: count }, (_, k) => ({ values: this.array(this.after.at(first + k, 0)), delta: this.after.at(first + k, 1) }));
  }

  kind(access: number): (typeof KINDS)[number] {
    return KINDS[this.accesses.at(access, 3)];
  }

  space(access: number): string {
    return SPACES[this.accesses.at(access, 4)];
  }
}

/** Which element of an array belongs to a place in lanes of a shape. */
export function elementOf(v: Values, columns: number, place: number): number {
  const row = v.rows > 1 ? Math.floor(place / columns) : 0;
  const column = v.columns > 1 ? place % columns : 0;
  return row * v.columns + column;
}

/** An element as an unsigned number; of 8 bytes, its nearest one. */
export function numberAt(v: Values, n: number): number {
  const at = n * v.size;
  const b = v.bytes;
  switch (v.size) {
    case 1:
      return b[at];
    case 2:
      return b[at] | (b[at + 1] << 8);
    case 4:
      return (b[at] | (b[at + 1] << 8) | (b[at + 2] << 16) | (b[at + 3] << 24)) >>> 0;
    default:
      return wordAt(b, at + 4) * 2 ** 32 + wordAt(b, at);
  }
}

function wordAt(b: Uint8Array, at: number): number {
  return (b[at] | (b[at + 1] << 8) | (b[at + 2] << 16) | (b[at + 3] << 24)) >>> 0;
}

/** The least and the greatest of some addresses, of 4 or 8 bytes. */
export function rangeOf(v: Values): [number, number] {
  if (v.size < 4) return [0, Number.MAX_SAFE_INTEGER];
  let low = Infinity;
  let high = -Infinity;
  const words = new Uint32Array(v.bytes.buffer, v.bytes.byteOffset, (v.size / 4) * v.rows * v.columns);
  const wide = v.size === 8 ? 2 : 1;
  for (let k = 0; k < words.length; k += wide) {
    const a = wide === 2 ? words[k + 1] * 2 ** 32 + words[k] : words[k];
    if (a < low) low = a;
    if (a > high) high = a;
  }
  return [low, high];
}

/** An element as its bits, what is added to it included. */
export function bitsAt(k: Kept, n: number): bigint {
  const v = k.values;
  let bits = 0n;
  if (v.size === 8) {
    bits = (BigInt(wordAt(v.bytes, n * 8 + 4)) << 32n) | BigInt(wordAt(v.bytes, n * 8));
  } else {
    bits = BigInt(numberAt(v, n));
  }
  return k.delta ? BigInt.asUintN(8 * v.size, bits + BigInt(k.delta)) : bits;
}
