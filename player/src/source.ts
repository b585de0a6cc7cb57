// The program: PTX, and the source files that its .loc lines name, with counts, the current line, and the lanes that stand at each line.
import { counted, el, laneStrip } from "./dom";
import type { Session } from "./session";
import type { Instruction } from "./track";
import { rangesOf } from "./values";

interface Text {
  name: string;
  isSource: boolean;
  lines: string[];
  module: number;
}

const TOKEN = /(\/\/.*$|\/\*.*?\*\/)|(%[A-Za-z_$][\w$]*(?:\.[xyzw])?)|(^\s*[$\w]+:(?!:))|(^\s*(?:@!?%\w+\s+)?[a-z][\w]*(?:[.:][\w:]+)*)|(\.[a-z]\w*)|(\b0[xfFdD]?[\da-fA-F]+\b|\b\d+\b)/g;
const MOST_LINES = 20000;

export class Source {
  readonly element: HTMLElement;
  private readonly tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Files" });
  private readonly body = el("div", { class: "code", tabindex: 0, role: "listbox", "aria-label": "Source" });
  private readonly texts: Text[] = [];
  private readonly linesOf = new Map<string, Map<number, number[]>>(); // by file and line: instructions
  private readonly counts: Float64Array; // by instruction: threads that executed it
  private shown = -1;
  private rows: HTMLElement[] = [];
  private marked: HTMLElement[] = [];
  private cursor = 0;
  private high = 0; // of a line
  private visible = 0; // height of what is seen
  private top = 0; // of what is seen

  constructor(
    private readonly s: Session,
    private readonly pickRegister: (name: string) => void,
    private readonly valueOf: (name: string) => string,
  ) {
    const h = s.rec.track.header;
    this.counts = new Float64Array(h.instructions.length);
    this.count();
    h.texts.forEach(([name, text], module) => this.texts.push({ name: base(name), isSource: false, lines: text.split("\n"), module }));
    const named = new Set<string>();
    h.instructions.forEach((i, n) => {
      this.note(this.key(false, i.module, ""), i.line, n);
      if (!i.source) return;
      const [file, line] = sourceOf(i);
      named.add(file);
      this.note(this.key(true, 0, file), line, n);
    });
    for (const file of named) {
      const text = s.extras.sources[file];
      if (text !== undefined) this.texts.push({ name: file, isSource: true, lines: text.split("\n"), module: 0 });
    }
    this.texts.forEach((t, n) => {
      this.tabs.append(el("button", { role: "tab", onclick: () => this.show(n) }, t.isSource ? base(t.name) : named.size && h.texts.length === 1 ? "PTX" : t.name || "PTX"));
    });
    this.element = el("section", { class: "source", "aria-label": "Source" }, el("header", {}, el("h2", {}, "Source"), this.tabs), this.body);
    this.body.addEventListener("click", (e) => this.clicked(e));
    this.body.addEventListener("pointerover", (e) => {
      const word = e.target as HTMLElement;
      if (word.dataset.register) word.title = `${word.dataset.register} = ${this.valueOf(word.dataset.register)}`;
    });
    this.body.addEventListener("keydown", (e) => this.typed(e));
    this.body.addEventListener("scroll", () => (this.top = this.body.scrollTop), { passive: true });
    new ResizeObserver(([entry]) => {
      this.visible = entry.contentRect.height;
      if (this.cursor) this.reveal(this.cursor);
    }).observe(this.body);
    const first = this.texts.findIndex((t) => t.isSource);
    this.show(first >= 0 && this.isBetter(first) ? first : 0);
  }

  /** Is the source the better first page?  Where the PTX is short, that is. */
  private isBetter(n: number): boolean {
    return this.texts[n].lines.length < this.texts[0].lines.length;
  }

  private key(isSource: boolean, module: number, file: string): string {
    return isSource ? `source|${file}` : `ptx|${module}`;
  }

  private note(key: string, line: number, instruction: number): void {
    let own = this.linesOf.get(key);
    if (!own) this.linesOf.set(key, (own = new Map()));
    const found = own.get(line);
    if (found) found.push(instruction);
    else own.set(line, [instruction]);
  }

  private count(): void {
    const { rec } = this.s;
    const living = new Map<number, number>();
    for (let e = 0; e < rec.track.executions.rows; e++) {
      const set = rec.setOf(e);
      let n = living.get(set);
      if (n === undefined) {
        n = 0;
        for (const lanes of rec.blocksOf(set).values()) n += lanes;
        living.set(set, n);
      }
      const first = rec.layout(e).first;
      for (let k = 0; k < rec.track.executions.at(e, 3); k++) this.counts[first + k] += n;
    }
  }

  private get lines(): Map<number, number[]> {
    const t = this.texts[this.shown];
    return this.linesOf.get(this.key(t.isSource, t.module, t.name)) ?? new Map<number, number[]>();
  }

  toggle(): void {
    this.show((this.shown + 1) % this.texts.length);
    this.update();
  }

  private show(n: number): void {
    this.shown = n;
    [...this.tabs.children].forEach((t, k) => t.setAttribute("aria-selected", String(k === n)));
    const text = this.texts[n];
    const most = Math.max(...[...this.lines.values()].map((own) => this.countOf(own, text.isSource)), 1);
    const digits = String(text.lines.length).length;
    this.rows = text.lines.slice(0, MOST_LINES).map((line, k) => {
      const own = this.lines.get(k + 1);
      const count = own ? this.countOf(own, text.isSource) : 0;
      return el(
        "div", { class: own ? "line ran" : "line", "data-line": k + 1, role: "option", "aria-selected": "false" },
        el("span", { class: "number" }, String(k + 1).padStart(digits)),
        el("span", { class: "count", title: own ? `executed by ${counted(count)} threads in all` : undefined },
          count ? el("i", { style: `width:${((100 * Math.log1p(count)) / Math.log1p(most)).toFixed(0)}%` }) : null, count ? short(count) : ""),
        el("span", { class: "at" }),
        el("code", {}, ...(text.isSource ? [line] : this.coloured(line))),
      );
    });
    this.body.replaceChildren(...this.rows);
    this.body.scrollTop = this.top = 0;
    this.marked = [];
    this.s.changed();
  }

  private countOf(instructions: number[], isSource: boolean): number {
    const all = instructions.map((i) => this.counts[i]);
    return isSource ? Math.max(...all) : all.reduce((a, b) => a + b, 0);
  }

  private coloured(line: string): (Node | string)[] {
    const out: (Node | string)[] = [];
    let at = 0;
    for (const m of line.matchAll(TOKEN)) {
      if (m.index > at) out.push(line.slice(at, m.index));
      const kind = m[1] ? "comment" : m[2] ? "reg" : m[3] ? "label" : m[4] ? "opcode" : m[5] ? "dot" : "literal";
      out.push(el("span", { class: kind, "data-register": m[2] }, m[0]));
      at = m.index + m[0].length;
    }
    out.push(line.slice(at));
    return out;
  }

  private clicked(e: MouseEvent): void {
    const word = e.target as HTMLElement;
    const row = word.closest<HTMLElement>(".line");
    if (row?.classList.contains("now") && word.dataset.register && !word.dataset.register.includes(".")) {
      this.pickRegister(word.dataset.register);
      return;
    }
    if (row && !String(window.getSelection())) this.goTo(Number(row.dataset.line), e.shiftKey ? -1 : 1);
  }

  private goTo(line: number, way: 1 | -1): void {
    const own = new Set(this.lines.get(line) ?? []);
    if (!own.size) return;
    const wanted = (n: number): boolean => own.has(n);
    if (!this.s.search(wanted, way)) this.s.search(wanted, way === 1 ? -1 : 1);
  }

  private typed(e: KeyboardEvent): void {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const ran = [...this.lines.keys()].sort((a, b) => a - b);
      const next = e.key === "ArrowDown" ? ran.find((n) => n > this.cursor) : ran.filter((n) => n < this.cursor).pop();
      if (next) this.setCursor(next);
    } else if (e.key === "Enter") {
      this.goTo(this.cursor, e.shiftKey ? -1 : 1);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  private setCursor(line: number): void {
    this.rows[this.cursor - 1]?.classList.remove("cursor");
    this.cursor = line;
    const row = this.rows[line - 1];
    row?.classList.add("cursor");
    if (row) this.reveal(line);
  }

  update(): void {
    const { rec, warp, own, step } = this.s;
    const text = this.texts[this.shown];
    for (const row of this.marked) {
      row.classList.remove("now", "mine");
      row.setAttribute("aria-selected", "false");
      row.querySelector(".at")?.replaceChildren();
    }
    this.marked = [];
    const lineOf = (i: Instruction): number => {
      if (!text.isSource) return i.module === text.module ? i.line : 0;
      const [file, line] = sourceOf(i);
      return file === text.name ? line : 0;
    };
    const at = new Map<number, number>();
    const next = rec.nextSteps(warp, step);
    next.forEach((n, lane) => {
      if (n < 0) return;
      const line = lineOf(rec.instruction(n));
      at.set(line, (at.get(line) ?? 0) | (1 << lane));
    });
    for (const [line, mask] of at) {
      const row = this.rows[line - 1];
      const cell = row?.querySelector(".at");
      if (!row || !cell) continue;
      cell.append(laneStrip(mask, own));
      cell.setAttribute("title", `lanes ${rangesOf(mask)} stand here`);
      row.classList.add("mine");
      this.marked.push(row);
    }
    const now = this.rows[lineOf(rec.instruction(step)) - 1];
    if (!now) return;
    now.classList.add("now");
    now.setAttribute("aria-selected", "true");
    this.marked.push(now);
    this.cursor = Number(now.dataset.line);
    this.reveal(this.cursor);
  }

  /** Scrolls to a line; what that needs to know is measured beforehand, as asking the page for it at each step would take most of the step's time. */
  private reveal(line: number): void {
    if (!this.high) this.high = this.rows[0]?.offsetHeight ?? 0;
    const top = (line - 1) * this.high;
    const margin = Math.min(60, this.visible / 4);
    if (top - margin < this.top) this.top = top - margin;
    else if (top + this.high + margin > this.top + this.visible) this.top = top + this.high + margin - this.visible;
    else return;
    this.top = Math.max(this.top, 0);
    this.body.scrollTop = this.top;
  }
}

function sourceOf(i: Instruction): [string, number] {
  const at = i.source.lastIndexOf(":");
  return at < 0 ? ["", 0] : [i.source.slice(0, at), Number(i.source.slice(at + 1))];
}

function base(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** 1234567 as 1.2M. */
function short(n: number): string {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["K", 1e4]] as const) {
    if (n >= size) return `${(n / (unit === "K" ? 1e3 : size)).toFixed(n < 10 * size && unit !== "K" ? 1 : 0)}${unit}`;
  }
  return counted(n);
}
