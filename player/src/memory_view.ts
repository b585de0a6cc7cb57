// Memory after the step: arrays by the names of their arguments, in their type and shape; who wrote each cell; what the step touches.
import { el, plural } from "./dom";
import { type Contents, elementBits } from "./memory";
import type { Session } from "./session";
import type { NamedCells } from "./track";
import { floatOf, integerOf, sizeOf, valueText } from "./values";

const ROWS = 24; // that are shown at once
const WIDE = 4; // cells of a row of an array with one dimension, if its values are long
const NARROW = 8;
const LONG = 5; // characters
const LOOKED_AT = 256; // cells
const MOST_COLUMNS = 32;

export class MemoryView {
  readonly element: HTMLElement;
  private readonly tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Arrays and variables" });
  private readonly body = el("div", { class: "memory", tabindex: 0, role: "grid", "aria-label": "Memory" });
  private readonly title = el("span", { class: "quiet" });
  private readonly objects: NamedCells[];
  private shown = 0;
  private first = 0; // the first row that is shown
  private firstColumn = 0;
  private cursor = -1;
  private asPicture = false;
  private readonly widths = new Map<NamedCells, number>();
  private contents: Contents | null = null;

  constructor(private readonly s: Session) {
    const places = new Set<string>(); // a variable of the module may be named twice: as such, and as an allocation
    this.objects = s.rec.track.header.objects.filter((o) => {
      const place = `${o.space}|${o.start}`;
      const isNew = o.size > 0 && !places.has(place);
      places.add(place);
      return isNew;
    });
    const used = this.touched();
    this.objects.sort((a, b) => Number(used.has(b)) - Number(used.has(a)));
    this.objects.forEach((o, n) => {
      this.tabs.append(el("button", { role: "tab", class: o.space, title: `${o.space} memory, ${o.size} bytes`, onclick: () => this.show(n) }, o.name));
    });
    const picture: HTMLElement = el("button", {
      class: "flat", title: "As a picture (P)", "aria-pressed": "false", onclick: () => this.togglePicture(),
    }, "picture");
    this.element = el(
      "section", { class: "memory-view", "aria-label": "Memory" },
      el("header", {}, el("h2", {}, "Memory"), this.tabs, el("span", { class: "spring" }), picture),
      el("p", { class: "said" }, this.title), this.body,
    );
    this.body.addEventListener("click", (e) => {
      const cell = (e.target as HTMLElement).closest<HTMLElement>("[data-cell]");
      if (cell) this.pick(Number(cell.dataset.cell));
    });
    this.body.addEventListener("keydown", (e) => this.typed(e));
    this.body.addEventListener("wheel", (e) => this.scroll(e), { passive: false });
  }

  /** The objects that an access reaches. */
  private touched(): Set<NamedCells> {
    const out = new Set<NamedCells>();
    for (const a of this.s.memory.accesses) {
      const space = a.space.startsWith("shared") ? "shared" : a.space === "local" ? "local" : "global";
      const o = this.s.memory.objectAt(space, a.low);
      if (o) out.add(o);
    }
    return out;
  }

  togglePicture(): void {
    this.asPicture = !this.asPicture;
    this.element.querySelector("button.flat")?.setAttribute("aria-pressed", String(this.asPicture));
    this.update();
  }

  next(): void {
    this.show((this.shown + 1) % Math.max(this.objects.length, 1));
  }

  private show(n: number): void {
    this.shown = n;
    this.first = this.firstColumn = 0;
    this.cursor = -1;
    this.update();
  }

  // ---------------------------------------------------------------- shape

  private get object(): NamedCells | undefined {
    return this.objects[this.shown];
  }

  private owner(o: NamedCells): number {
    return o.space === "shared" ? this.s.warp.block : o.space === "local" ? this.s.lane : 0;
  }

  private grid(o: NamedCells): { unit: number; count: number; columns: number; rows: number } {
    const unit = Math.max(sizeOf(o.type), 1);
    const count = Math.floor(o.size / unit);
    const last = o.shape.length > 1 ? o.shape[o.shape.length - 1] : this.width(o, unit, count);
    return { unit, count, columns: last, rows: Math.ceil(count / last) };
  }

  /** How many cells of an array with one dimension a row has: that does not depend on the step. */
  private width(o: NamedCells, unit: number, count: number): number {
    let found = this.widths.get(o);
    if (found === undefined) {
      const longest = (step: number): number => {
        const c = this.s.memory.contents(o, this.owner(o), step);
        let most = 0;
        for (let n = 0; n < Math.min(count, LOOKED_AT); n++) most = Math.max(most, valueText(elementBits(c.bytes, n * unit, unit), o.type).length);
        return most;
      };
      found = longest(this.s.rec.stepCount) > LONG ? WIDE : NARROW;
      this.widths.set(o, found);
    }
    return found;
  }

  private indexText(o: NamedCells, n: number): string {
    if (o.shape.length < 2) return `[${n}]`;
    const parts: number[] = [];
    let rest = n;
    for (const d of [...o.shape].reverse()) {
      parts.unshift(rest % d);
      rest = Math.floor(rest / d);
    }
    return parts.map((p) => `[${p}]`).join("");
  }

  private pick(n: number): void {
    const o = this.object;
    const c = this.contents;
    if (!o || !c) return;
    this.cursor = n;
    const text = valueText(elementBits(c.bytes, n * c.unit, c.unit), o.type);
    this.s.choose(`${o.name}${this.indexText(o, n)}`, text, c.lane[n], this.s.slices.writerOf(o.space, this.owner(o), o.start + n * c.unit, c.unit, this.s.step + 1));
    this.update();
  }

  private scroll(e: WheelEvent): void {
    const o = this.object;
    if (!o || this.asPicture) return;
    const g = this.grid(o);
    if (g.rows <= ROWS && g.columns <= MOST_COLUMNS) return;
    const rows = Math.sign(e.deltaY) * Math.max(1, Math.round(Math.abs(e.deltaY) / 40));
    const was = [this.first, this.firstColumn].join();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      this.firstColumn = Math.min(Math.max(this.firstColumn + Math.sign(e.deltaX || e.deltaY) * 4, 0), Math.max(g.columns - MOST_COLUMNS, 0));
    } else this.first = Math.min(Math.max(this.first + rows, 0), Math.max(g.rows - ROWS, 0));
    if (was === [this.first, this.firstColumn].join()) return;
    e.preventDefault();
    this.update();
  }

  private typed(e: KeyboardEvent): void {
    const o = this.object;
    if (!o || e.altKey || e.ctrlKey || e.metaKey) return;
    const g = this.grid(o);
    const moves: Record<string, number> = { ArrowDown: g.columns, ArrowUp: -g.columns, ArrowRight: 1, ArrowLeft: -1, PageDown: ROWS * g.columns, PageUp: -ROWS * g.columns };
    if (e.key === "Enter" && this.cursor >= 0) this.pick(this.cursor);
    else if (e.key in moves) {
      this.cursor = Math.min(Math.max((this.cursor < 0 ? -Math.min(moves[e.key], 0) : this.cursor) + moves[e.key], 0), g.count - 1);
      this.reveal(g, this.cursor);
      this.update();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  private reveal(g: { columns: number; rows: number }, n: number): void {
    const row = Math.floor(n / g.columns);
    const column = n % g.columns;
    if (row < this.first || row >= this.first + ROWS) this.first = Math.min(Math.max(row - 4, 0), Math.max(g.rows - ROWS, 0));
    if (column < this.firstColumn || column >= this.firstColumn + MOST_COLUMNS) {
      this.firstColumn = Math.min(Math.max(column - 4, 0), Math.max(g.columns - MOST_COLUMNS, 0));
    }
  }

  // ---------------------------------------------------------------- drawing

  /** The cells of an object that the step touches, and by which lane of the warp. */
  private touchedBy(o: NamedCells, unit: number): Map<number, { lane: number; kind: string }> {
    const { rec, warp, step } = this.s;
    const out = new Map<number, { lane: number; kind: string }>();
    for (const a of this.s.memory.at(step)) {
      const places = rec.placesIn(warp, a.set);
      if (!places) continue;
      const reach = this.s.memory.reacher(a);
      for (let lane = 0; lane < warp.count; lane++) {
        const r = places[lane] >= 0 ? reach(rec.set(a.set), places[lane]) : null;
        if (!r || r.space !== o.space || r.address < o.start || r.address >= o.start + o.size || (o.space !== "global" && r.owner !== this.owner(o))) continue;
        const n = Math.floor((r.address - o.start) / unit);
        for (let k = 0; k < Math.max(a.size / unit, 1); k++) out.set(n + k, { lane, kind: a.kind === "ld" ? "read" : "written" });
      }
    }
    return out;
  }

  /** When a step is made, the array that it touches is shown. */
  moved(): void {
    for (const a of this.s.memory.at(this.s.step)) {
      const places = this.s.rec.placesIn(this.s.warp, a.set);
      if (!places) continue;
      const place = places[this.s.own] >= 0 ? places[this.s.own] : places.find((p) => p >= 0);
      const r = place === undefined ? null : this.s.memory.reacher(a)(this.s.rec.set(a.set), place);
      const o = r && (this.s.memory.objectAt(r.space, r.address) ?? this.nearest(r.space, r.address));
      if (!o) continue;
      this.shown = this.objects.indexOf(o);
      const g = this.grid(o);
      this.reveal(g, Math.min(Math.floor((r.address - o.start) / g.unit), g.count - 1));
    }
  }

  /** The object that ends nearest before an address: the one that an access beyond an end was meant for. */
  private nearest(space: string, address: number): NamedCells | null {
    const before = this.objects.filter((o) => o.space === space && o.start <= address);
    return before.reduce<NamedCells | null>((best, o) => (best && best.start > o.start ? best : o), null);
  }

  update(): void {
    const o = this.object;
    [...this.tabs.children].forEach((t, n) => t.setAttribute("aria-selected", String(n === this.shown)));
    if (!o) {
      this.body.replaceChildren(el("p", { class: "quiet" }, "The launch names no array."));
      return;
    }
    const g = this.grid(o);
    const c = (this.contents = this.s.memory.contents(o, this.owner(o), this.s.step + 1));
    const thread = this.s.rec.threadName(this.s.lane).join(",");
    const place = o.space === "local" ? `local memory of thread ${thread}` : o.space === "shared" ? `shared memory of block ${this.s.rec.blockName(this.s.warp.block).join(",")}` : `${o.space} memory`;
    const shape = o.shape.length ? `[${o.shape.join("][")}]` : `[${g.count}]`;
    this.title.textContent = `${o.name}: ${o.type}${shape}, ${place}${c.known ? "" : "; what it held before the launch is not recorded"}`;
    if (this.asPicture) this.body.replaceChildren(this.picture(o, c, g));
    else this.body.replaceChildren(...this.table(o, c, g));
  }

  private table(o: NamedCells, c: Contents, g: { unit: number; count: number; columns: number; rows: number }): HTMLElement[] {
    const touched = this.touchedBy(o, g.unit);
    const columns = Math.min(g.columns - this.firstColumn, MOST_COLUMNS);
    const chosen = this.s.chosen;
    const rows: HTMLElement[] = [];
    const heads = el("tr", {}, el("th", {}));
    for (let k = 0; k < columns; k++) heads.append(el("th", { scope: "col" }, o.shape.length > 1 ? `${this.firstColumn + k}` : `+${k}`));
    for (let row = this.first; row < Math.min(this.first + ROWS, g.rows); row++) {
      const tr = el("tr", {}, el("th", { scope: "row" }, this.indexText(o, row * g.columns).replace(/\[0\]$/, o.shape.length > 1 ? "" : "[0]")));
      for (let k = 0; k < columns; k++) {
        const n = row * g.columns + this.firstColumn + k;
        if (n >= g.count) break;
        const t = touched.get(n);
        const text = valueText(elementBits(c.bytes, n * g.unit, g.unit), o.type);
        const name = `${o.name}${this.indexText(o, n)}`;
        const kind = [
          t ? t.kind : "", t?.lane === this.s.own ? "own" : "", c.step[n] >= 0 ? "wrote" : "", n === this.cursor ? "cursor" : "",
          chosen?.name === name ? "chosen" : "", text === "nan" || text.endsWith("inf") ? "bad" : "",
        ].filter(Boolean).join(" ");
        const who = c.step[n] >= 0 ? `written at step ${c.step[n]} by ${laneName(this.s, c.lane[n])}` : "not written by the launch so far";
        const here = t ? `; lane ${t.lane} ${t.kind === "read" ? "reads" : "writes"} it now` : "";
        tr.append(el("td", { class: kind || undefined, "data-cell": n, title: `${name} = ${text}; ${who}${here}`, role: "gridcell" }, text, t ? el("sup", {}, `${t.lane}`) : null));
      }
      rows.push(tr);
    }
    const out: HTMLElement[] = [el("table", {}, el("thead", {}, heads), el("tbody", {}, ...rows))];
    if (g.rows > ROWS || g.columns > columns) {
      const to = Math.min(this.first + ROWS, g.rows);
      const range = el("input", {
        type: "range", min: 0, max: Math.max(g.rows - ROWS, 0), value: this.first, "aria-label": "First row",
        oninput: (e: InputEvent) => {
          this.first = Number((e.target as HTMLInputElement).value);
          this.update();
          this.body.querySelector("input")?.focus();
        },
      });
      out.push(el("p", { class: "more" }, `rows ${this.first}–${to - 1} of ${g.rows}`, range));
    }
    return out;
  }

  /** The array as a picture: a pixel a cell, dark is low; cells that the step touches are marked. */
  private picture(o: NamedCells, c: Contents, g: { unit: number; count: number; columns: number; rows: number }): HTMLElement {
    const columns = o.shape.length > 1 ? g.columns : Math.ceil(Math.sqrt(g.count));
    const rows = Math.ceil(g.count / columns);
    const values = new Float64Array(g.count);
    for (let n = 0; n < g.count; n++) {
      const bits = elementBits(c.bytes, n * g.unit, g.unit);
      values[n] = floatOf(bits, o.type) ?? Number(integerOf(bits, o.type));
    }
    let low = Infinity;
    let high = -Infinity;
    for (const v of values) if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
    const canvas = el("canvas", { class: "picture", width: columns, height: rows, role: "img", "aria-label": `${o.name} as a picture, from ${low} to ${high}` });
    const image = new ImageData(columns, rows);
    const isWritten = this.s.memory.contents(o, this.owner(o), this.s.rec.stepCount).step.some((step) => step >= 0);
    const touched = this.touchedBy(o, g.unit);
    for (let n = 0; n < g.count; n++) {
      const v = values[n];
      const x = high > low ? (v - low) / (high - low) : 0.5;
      const colour = !Number.isFinite(v) ? [208, 59, 59] : touched.has(n) ? [232, 96, 42] : shade(x);
      image.data.set([...colour, c.step[n] >= 0 || touched.has(n) || !isWritten ? 255 : 110], 4 * n);
    }
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    canvas.addEventListener("click", (e) => {
      const box = canvas.getBoundingClientRect();
      const n = Math.floor(((e.clientY - box.top) / box.height) * rows) * columns + Math.floor(((e.clientX - box.left) / box.width) * columns);
      if (n >= 0 && n < g.count) this.pick(n);
    });
    return el("figure", { class: "picture" }, canvas, el("figcaption", { class: "quiet" }, `${plural(g.count, "cell")}, ${short(low)} (dark) to ${short(high)}${isWritten ? "; pale cells are not written yet" : ""}`));
  }
}

const SHADES = [[24, 28, 68], [38, 108, 140], [126, 184, 140], [244, 230, 180]]; // from low to high

function shade(x: number): number[] {
  const at = Math.min(x * (SHADES.length - 1), SHADES.length - 1 - 1e-9);
  const [a, b] = [SHADES[Math.floor(at)], SHADES[Math.floor(at) + 1]];
  return a.map((v, k) => v + (b[k] - v) * (at % 1));
}

function short(x: number): string {
  return String(Number(x.toPrecision(6)));
}

export function laneName(s: Session, lane: number): string {
  return `block ${s.rec.blockName(Math.floor(lane / s.rec.threads)).join(",")}, thread ${s.rec.threadName(lane).join(",")}`;
}
