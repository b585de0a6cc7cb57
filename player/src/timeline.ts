// Lanes over time: a row a lane, a warp or a block, a column a step; colour is the side of the branch, a hole is a lane that waits.
import { counted, el, plural } from "./dom";
import type { Scope, Session } from "./session";
import { type Row, TimeWindow } from "./time_window";
import { Drawing, LEFT, type Size, TOP, rowHeight } from "./timeline_drawing";
import { rangesOf } from "./values";

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly tip = el("div", { class: "tip", hidden: true });
  private readonly title = el("span", { class: "quiet" });
  private readonly scopes: HTMLElement;
  private readonly probe = el("i", { hidden: true });
  private readonly time: TimeWindow;
  private size = { width: 0, height: 0 };
  private readonly lanes = document.createElement("canvas"); // all but the place where one looks, which alone changes with a step
  private drawn = ""; // what is on it
  private readonly colours = new Map<string, string>(); // of the theme
  private theme = "";

  constructor(private readonly s: Session) {
    this.time = new TimeWindow(s);
    this.canvas = el("canvas", { tabindex: 0, role: "slider", "aria-label": "Step" });
    this.scopes = el("div", { class: "choice", role: "group", "aria-label": "Rows" });
    for (const scope of ["lanes", "warps", "blocks"] as Scope[]) {
      this.scopes.append(el("button", { "data-scope": scope, onclick: () => this.setScope(scope) }, scope));
    }
    const zoom = el(
      "div", { class: "choice", role: "group", "aria-label": "Zoom" },
      el("button", { title: "Zoom out (-)", "aria-label": "Zoom out", onclick: () => this.zoom(2) }, "−"),
      el("button", { title: "The whole launch (0)", onclick: () => this.whole() }, "all"),
      el("button", { title: "Zoom in (+)", "aria-label": "Zoom in", onclick: () => this.zoom(0.5) }, "+"),
    );
    this.element = el(
      "section", { class: "timeline", "aria-label": "Lanes over time" },
      el("header", {}, el("h2", {}, "Lanes over time"), this.title, el("span", { class: "spring" }), this.scopes, zoom),
      el("div", { class: "canvas" }, this.canvas, this.tip, this.probe),
      this.legend(),
    );
    this.listen();
    new ResizeObserver(([entry]) => {
      this.size = { width: entry.contentRect.width, height: entry.contentRect.height };
      this.draw();
    }).observe(this.canvas);
  }

  private legend(): HTMLElement {
    const item = (kind: string, text: string): HTMLElement => el("span", {}, el("i", { class: `key ${kind}` }), text);
    return el(
      "div", { class: "legend" }, item("calm", "all lanes together"), item("side", "one side of a branch"), item("off", "guard does not hold"),
      item("hole", "waits"), item("met", "barrier"), item("branch", "diverges"), item("finding", "finding"), item("fault", "fault"),
    );
  }

  setScope(scope: Scope): void {
    this.s.scope = scope;
    this.s.changed();
  }

  zoom(factor: number, around?: number): void {
    this.time.zoom(factor, around);
    this.draw();
  }

  whole(): void {
    this.time.whole();
    this.draw();
  }

  // ---------------------------------------------------------------- pointer

  private listen(): void {
    const c = this.canvas;
    const at = (e: PointerEvent | WheelEvent): number => {
      const box = c.getBoundingClientRect();
      return this.time.low + ((e.clientX - box.left - LEFT) / (box.width - LEFT)) * (this.time.high - this.time.low);
    };
    const row = (e: PointerEvent): number => {
      const box = c.getBoundingClientRect();
      return Math.floor((e.clientY - box.top - TOP) / rowHeight(box.height, this.time.rows().length));
    };
    let dragged = false;
    c.addEventListener("pointerdown", (e) => {
      dragged = true;
      c.setPointerCapture(e.pointerId);
      const rows = this.time.rows();
      const n = row(e);
      const step = this.time.stepOf(at(e));
      if (n >= 0 && n < rows.length) this.s.go(step, this.laneOfRow(rows[n], n), true);
      else this.s.go(step, this.s.lane, true);
    });
    c.addEventListener("pointermove", (e) => {
      if (dragged) this.s.go(this.time.stepOf(at(e)));
      this.showTip(e, at(e), row(e));
    });
    c.addEventListener("pointerup", () => (dragged = false));
    c.addEventListener("pointerleave", () => (this.tip.hidden = true));
    c.addEventListener("dblclick", () => this.whole());
    c.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && this.time.length <= 8) return;
        e.preventDefault();
        if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
          this.time.shift(((e.deltaX || e.deltaY) / 600) * (this.time.high - this.time.low));
          this.draw();
        } else this.zoom(1.0015 ** e.deltaY, at(e));
      },
      { passive: false },
    );
  }

  private laneOfRow(row: Row, n: number): number {
    if (this.s.scope === "lanes") return this.s.warp.first + Math.min(n, this.s.warp.count - 1);
    return row.warp ? row.warp.first + Math.min(this.s.own, row.warp.count - 1) : row.block * this.s.rec.threads + (this.s.lane % this.s.rec.threads);
  }

  private showTip(e: PointerEvent, clock: number, n: number): void {
    const rows = this.time.rows();
    const box = this.canvas.getBoundingClientRect();
    if (clock < this.time.low || clock > this.time.high || n < 0 || n >= rows.length) {
      this.tip.hidden = true;
      return;
    }
    const step = this.time.stepOf(clock);
    const i = this.s.rec.instruction(step);
    this.tip.textContent = `${rows[n].label}, step ${counted(step)}, line ${i.line}: ${i.text}`;
    this.tip.hidden = false;
    const x = e.clientX - box.left;
    this.tip.style.left = `${Math.min(x + 14, box.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${e.clientY - box.top + 16}px`;
  }

  // ---------------------------------------------------------------- drawing

  draw(): void {
    const { s, time } = this;
    const key = time.fit();
    const box = this.size;
    if (!box.width) return;
    const scale = window.devicePixelRatio || 1;
    const rows = time.rows();
    const colour = (name: string): string => this.colour(name);
    const what = [key, time.low, time.high, box.width, box.height, scale, colour("--ink"), rows[0].label].join("|");
    if (what !== this.drawn) {
      this.drawn = what;
      const g = fresh(this.lanes, box, scale);
      if (g) new Drawing(g, s, time, rows, box, colour).lanes();
    }
    const g = fresh(this.canvas, box, scale);
    if (!g) return;
    g.drawImage(this.lanes, 0, 0, box.width, box.height);
    new Drawing(g, s, time, rows, box, colour).place();
    this.describe();
  }

  /** A colour of the page, light or dark, as a canvas understands it. */
  private colour(name: string): string {
    const theme = `${document.documentElement.dataset.theme ?? ""}${window.matchMedia("(prefers-color-scheme: dark)").matches}`;
    if (theme !== this.theme) this.colours.clear();
    this.theme = theme;
    let found = this.colours.get(name);
    if (found === undefined) {
      this.probe.style.color = `var(${name})`;
      found = getComputedStyle(this.probe).color;
      this.colours.set(name, found);
    }
    return found;
  }

  private describe(): void {
    const { s, time } = this;
    for (const b of this.scopes.children) b.setAttribute("aria-pressed", String((b as HTMLElement).dataset.scope === s.scope));
    const of = s.scope === "lanes" ? `the ${plural(time.length, "step")} of warp ${s.warp.index}` : plural(time.length, "step");
    this.title.textContent = time.high - time.low < time.length ? `${counted(Math.ceil(time.high - time.low))} of ${of}` : of;
    const next = s.rec.nextSteps(s.warp, s.step);
    let mask = 0;
    next.forEach((n, lane) => (mask |= n === s.step ? 1 << lane : 0));
    const i = s.rec.instruction(s.step);
    this.canvas.setAttribute("aria-valuemin", "0");
    this.canvas.setAttribute("aria-valuemax", String(time.length - 1));
    this.canvas.setAttribute("aria-valuenow", String(time.here));
    this.canvas.setAttribute("aria-valuetext", `step ${s.step}, line ${i.line}, ${i.text}, lanes ${rangesOf(mask)}`);
  }
}

/** An empty canvas of a size, to be drawn on. */
function fresh(canvas: HTMLCanvasElement, size: Size, scale: number): CanvasRenderingContext2D | null {
  canvas.width = Math.round(size.width * scale);
  canvas.height = Math.round(size.height * scale);
  const g = canvas.getContext("2d");
  g?.scale(scale, scale);
  return g;
}
