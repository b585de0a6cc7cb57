// Which lines of the PTX come from which line of the source, by their .loc, and the colour that both have.

export interface Tint { line: number; kind: string }
const HUES = 6;

/** The coloured lines of the source and of the PTX, from 1. */
export function pairs(ptx: string, name: string): { source: Tint[]; ptx: Tint[] } {
  const files = new Set([...ptx.matchAll(/^\s*\.file\s+(\d+)\s+"([^"]*)"/gm)].filter((m) => m[2] === name).map((m) => m[1]));
  const out: Tint[] = [];
  const seen = new Map<number, string>();
  let line = 0;
  ptx.split("\n").forEach((text, n) => {
    const loc = /^\s*\.loc\s+(\d+)\s+(\d+)/.exec(text);
    if (loc !== null) line = files.has(loc[1]) ? Number(loc[2]) : 0;
    else if (/^\s*[{}]|^\s*\.|:\s*$|^\s*(\/\/.*)?$/.test(text)) return;
    else if (line) {
      const kind = seen.get(line) ?? `hue${seen.size % HUES}`;
      seen.set(line, kind);
      out.push({ line: n + 1, kind });
    }
  });
  return { source: [...seen].map(([l, kind]) => ({ line: l, kind })), ptx: out };
}
