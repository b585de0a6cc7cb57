// Values as people read them: bits of a type, and what the lanes of a warp have in common.

const scratch = new DataView(new ArrayBuffer(8));

/** Bytes of a type; 4 where it is not known. */
export function sizeOf(type: string): number {
  if (type === "pred") return 1;
  const packed = /^[a-z0-9]*?(\d+)x(\d+)$/.exec(type);
  if (packed) return (Number(packed[1]) * Number(packed[2])) / 8;
  if (/^(e\dm\d|ue\dm\d)/.test(type)) return 1;
  if (type === "tf32") return 4;
  const bits = /(\d+)$/.exec(type);
  return bits ? Math.max(Number(bits[1]) / 8, 1) : type.endsWith("ref") ? 8 : 4;
}

function half(bits: number): number {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
}

/** Bits of a floating-point type as a number; null of another type. */
export function floatOf(bits: bigint, type: string): number | null {
  switch (type) {
    case "f16":
      return half(Number(bits & 0xffffn));
    case "bf16":
      scratch.setUint32(0, Number(bits & 0xffffn) << 16);
      return scratch.getFloat32(0);
    case "f32":
    case "tf32":
      scratch.setUint32(0, Number(bits & 0xffffffffn));
      return scratch.getFloat32(0);
    case "f64":
      scratch.setBigUint64(0, bits & 0xffffffffffffffffn);
      return scratch.getFloat64(0);
    default:
      return null;
  }
}

/** Bits of an integer type as an integer. */
export function integerOf(bits: bigint, type: string): bigint {
  return type.startsWith("s") ? BigInt.asIntN(8 * sizeOf(type), bits) : BigInt.asUintN(8 * sizeOf(type), bits);
}

/** The shortest text that reads back as the number, in the precision of its type. */
function floatText(x: number, type: string): string {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (Object.is(x, -0)) return "-0.0";
  let text = String(x);
  if (type !== "f64") {
    for (let digits = 1; digits <= 9; digits++) {
      const short = Number(x.toPrecision(digits));
      if (rounded(short, type) === x) {
        text = String(short);
        break;
      }
    }
  }
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function rounded(x: number, type: string): number {
  if (type === "f32" || type === "tf32") return Math.fround(x);
  return Math.abs(x) < 2 ** 40 ? halfRounded(x, type === "bf16" ? 8 : 11) : x;
}

function halfRounded(x: number, digits: number): number {
  if (!x) return x;
  const unit = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(x))), digits === 11 ? -14 : -126) - digits + 1);
  return Math.round(x / unit) * unit;
}

/** A value of a type. */
export function valueText(bits: bigint | null, type: string, hex = false): string {
  if (bits === null) return "";
  if (type === "pred") return bits ? "true" : "false";
  const size = sizeOf(type);
  if (hex) return `0x${BigInt.asUintN(8 * size, bits).toString(16)}`;
  const packed = /^(.*?\d+)x(\d+)$/.exec(type);
  if (packed && !type.startsWith("e") && !type.startsWith("ue")) {
    const each = BigInt((8 * size) / Number(packed[2]));
    const parts = [];
    for (let k = 0n; k < BigInt(packed[2]); k++) parts.push(valueText((bits >> (k * each)) & ((1n << each) - 1n), packed[1]));
    return `{${parts.join(", ")}}`;
  }
  const x = floatOf(bits, type);
  if (x !== null) return floatText(x, type);
  if (size > 8 || /^u?e\d/.test(type)) return `0x${bits.toString(16)}`;
  return integerOf(bits, type).toString();
}

/** What the values of some lanes have in common: one, a line over the lanes, or nothing. */
export type Shape = { kind: "uniform"; value: bigint } | { kind: "line"; base: bigint; slope: bigint } | { kind: "each" };

export function shapeOf(bits: (bigint | null)[], type: string): Shape {
  const known = bits.flatMap((b, lane) => (b === null ? [] : [{ b, lane }]));
  if (!known.length) return { kind: "each" };
  if (known.every((k) => k.b === known[0].b)) return { kind: "uniform", value: known[0].b };
  if (floatOf(0n, type) !== null || type === "pred" || type.includes("x") || known.length < 3) return { kind: "each" };
  const wrap = (x: bigint): bigint => BigInt.asIntN(8 * sizeOf(type), x);
  const apart = BigInt(known[1].lane - known[0].lane);
  const rise = wrap(known[1].b - known[0].b);
  if (rise % apart) return { kind: "each" };
  const slope = rise / apart;
  const base = known[0].b - slope * BigInt(known[0].lane);
  const fits = known.every((k) => wrap(k.b - base - slope * BigInt(k.lane)) === 0n);
  return fits ? { kind: "line", base: BigInt.asUintN(8 * sizeOf(type), base), slope } : { kind: "each" };
}

/** `0-2,5` of a mask. */
export function rangesOf(mask: number): string {
  const out: string[] = [];
  for (let lane = 0; lane < 32; lane++) {
    if (!((mask >>> lane) & 1)) continue;
    let end = lane;
    while (end < 31 && (mask >>> (end + 1)) & 1) end++;
    out.push(end > lane ? `${lane}–${end}` : `${lane}`);
    lane = end;
  }
  return out.join(", ") || "none";
}

export function countOf(mask: number): number {
  let n = 0;
  for (let m = mask >>> 0; m; m &= m - 1) n++;
  return n;
}
