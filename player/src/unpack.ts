// A recording file in the page: base64, a zip of numpy's arrays.

/** An array of a file: its numbers in one row, and its shape. */
export interface NumpyArray {
  bytes: Uint8Array;
  kind: string;
  shape: number[];
}

/** The bytes that a text in base64 stands for. */
export async function fromBase64(text: string): Promise<Uint8Array> {
  const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (direct) return direct.call(Uint8Array, text);
  const answer = await fetch(`data:application/octet-stream;base64,${text.trim()}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function inflated(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const out = new Uint8Array(size);
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  for (let at = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return out;
    out.set(value, at);
    at += value.length;
  }
}

/** The arrays of an npz file by their names. */
export async function unpackArrays(file: Uint8Array): Promise<Map<string, NumpyArray>> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let end = file.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("the recording in this page is damaged");
  const count = view.getUint16(end + 10, true);
  const found: Promise<[string, NumpyArray]>[] = [];
  let at = view.getUint32(end + 16, true);
  for (let n = 0; n < count; n++) {
    const method = view.getUint16(at + 10, true);
    const packed = view.getUint32(at + 20, true);
    const size = view.getUint32(at + 24, true);
    const nameLength = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const name = new TextDecoder().decode(file.subarray(at + 46, at + 46 + nameLength)).replace(/\.npy$/, "");
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const piece = file.subarray(start, start + packed);
    found.push((method === 8 ? inflated(piece, size) : Promise.resolve(piece.slice())).then((raw) => [name, numpyArray(raw)]));
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return new Map(await Promise.all(found));
}

function numpyArray(raw: Uint8Array): NumpyArray {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const wide = raw[6] > 1;
  const start = wide ? 12 : 10;
  const size = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const head = new TextDecoder("latin1").decode(raw.subarray(start, start + size));
  const kind = /'descr': *'[<|]?(\w+)'/.exec(head);
  const shape = /'shape': *\(([^)]*)\)/.exec(head);
  if (!kind || !shape) throw new Error("the recording in this page is damaged");
  return { bytes: raw.subarray(start + size), kind: kind[1], shape: shape[1].split(",").filter((s) => s.trim()).map(Number) };
}

/** A table of 64-bit numbers, of which none exceeds 2**53. */
export class NumberTable {
  readonly rows: number;
  readonly width: number;
  private readonly data: Float64Array;

  constructor(a: NumpyArray) {
    this.rows = a.shape[0];
    this.width = a.shape[1] ?? 1;
    const words = new Int32Array(a.bytes.buffer, a.bytes.byteOffset, 2 * this.rows * this.width);
    this.data = new Float64Array(this.rows * this.width);
    for (let n = 0; n < this.data.length; n++) this.data[n] = words[2 * n + 1] * 2 ** 32 + (words[2 * n] >>> 0);
  }

  at(row: number, column: number): number {
    return this.data[row * this.width + column];
  }
}
