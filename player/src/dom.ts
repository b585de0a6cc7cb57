// Elements of the page, made in one expression.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element with its attributes; `onclick` and the like are listeners. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") out.addEventListener(name.slice(2), value as EventListener);
    else out.setAttribute(name, value === true ? "" : String(value));
  }
  out.append(...children.filter((c): c is Node | string => c !== null));
  return out;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Child[]): SVGElement {
  const out = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, String(value));
  out.append(...children.filter((c): c is Node | string => c !== null));
  return out;
}

const ICONS = {
  first: "M3 3v10M13 3 6 8l7 5z",
  previous: "M11 3 4 8l7 5z",
  next: "M5 3l7 5-7 5z",
  last: "M13 3v10M3 3l7 5-7 5z",
  event: "M8 14V8M8 8 3 3M8 8l5-5M3 6V3h3M10 3h3v3",
  back: "M6 3 2.5 6.5 6 10M3 6.5h6.5a3.5 3.5 0 0 1 0 7H7",
  save: "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  help: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.4 8.6 8 9 8 10M8 12.8v.2",
} as const;

/** A drawn sign of a button. */
export function icon(name: keyof typeof ICONS): SVGElement {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** The 32 lanes of a warp as small cells, those of a mask filled: the figure that stands wherever lanes are spoken of. */
export function laneStrip(mask: number, lane: number): SVGElement {
  const cells = { on: "", off: "", own: "" };
  for (let k = 0; k < 32; k++) {
    const cell = `M${4 * k + (k >> 3)} 1h3v9h-3z`;
    if ((mask >>> k) & 1) cells.on += cell;
    else cells.off += cell;
    if (k === lane) cells.own = cell;
  }
  const paths = (Object.keys(cells) as (keyof typeof cells)[]).filter((kind) => cells[kind]);
  const filled = (mask >>> lane) & 1 ? " on" : "";
  return svg(
    "svg", { class: "strip", viewBox: "-1 0 132 11", width: 132, height: 11, "aria-hidden": "true" },
    ...paths.map((kind) => svg("path", { class: kind === "own" ? `own${filled}` : kind, d: cells[kind] })),
  );
}

/** A number with thin separators: 16,384. */
export function counted(n: number): string {
  return n.toLocaleString("en-US");
}

/** `1 lane`, `3 lanes`. */
export function plural(n: number, word: string): string {
  return `${counted(n)} ${word}${n === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
}
