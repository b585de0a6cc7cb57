// Lanes over time: a row a lane, a warp or a block, a column a step; colour is the side of the branch, a hole is a lane that waits.
import { counted, el, plural } from "./dom";
import type { Warp } from "./recording";
import { WARP } from "./lanes";
import type { Scope, Session } from "./session";
import { countOf, rangesOf } from "./values";

const HUES = 8;
const MARKS: Record<string, { rank: number; word: string }> = {
  fault: { rank: 4, word: "fault" },
  finding: { rank: 3, word: "finding" },
  branch: { rank: 2, word: "diverges" },
  met: { rank: 1, word: "barrier complete" },
  wait: { rank: 0, word: "waits" },
  arrive: { rank: 0, word: "arrives" },
};
const LEFT = 64;
const TOP = 18; // of the rows: marks stand above
const BOTTOM = 18;
const MOST_ROWS = 64;
const MOST_HIGH = 30; // of a row
const MOST_SAMPLES = 6;

interface Row {
  label: string;
  warp: Warp | null;
  block: number;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly tip = el("div", { class: "tip", hidden: true });
  private readonly title = el("span", { class: "quiet" });
  private readonly scopes: HTMLElement;
  private readonly probe = el("i", { hidden: true });
  private low = 0; // what is shown, in the clock of the scope
  private high = 1;
  private fitted = ""; // for which warp and scope
  private readonly hueOf = new Map<number, number>();
  private size = { width: 0, height: 0 };
  private readonly lanes = document.createElement("canvas"); // all but the place where one looks, which alone changes with a step
  private drawn = ""; // what is on it
  private readonly colours = new Map<string, string>(); // of the theme
  private theme = "";

  constructor(private readonly s: Session) {
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

  // ---------------------------------------------------------------- the clock of a scope

  private get length(): number {
    const w = this.s.warp;
    return Math.max(this.s.scope === "lanes" ? w.start[w.executions.length] : this.s.rec.stepCount, 1);
  }

  private clockOf(step: number): number {
    return this.s.scope === "lanes" ? this.s.rec.clock(this.s.warp, step) : step;
  }

  private stepOf(clock: number): number {
    const c = Math.min(Math.max(Math.floor(clock), 0), this.length - 1);
    return this.s.scope === "lanes" ? this.s.rec.stepAt(this.s.warp, c) : c;
  }

  setScope(scope: Scope): void {
    this.s.scope = scope;
    this.s.changed();
  }

  zoom(factor: number, around = this.clockOf(this.s.step) + 0.5): void {
    const span = Math.min(Math.max((this.high - this.low) * factor, Math.min(8, this.length)), this.length);
    const share = (around - this.low) / (this.high - this.low);
    this.low = Math.min(Math.max(around - span * Math.min(Math.max(share, 0), 1), 0), this.length - span);
    this.high = this.low + span;
    this.draw();
  }

  whole(): void {
    this.low = 0;
    this.high = this.length;
    this.draw();
  }

  private shift(by: number): void {
    const span = this.high - this.low;
    this.low = Math.min(Math.max(this.low + by, 0), this.length - span);
    this.high = this.low + span;
  }

  // ---------------------------------------------------------------- pointer

  private listen(): void {
    const c = this.canvas;
    const at = (e: PointerEvent | WheelEvent): number => {
      const box = c.getBoundingClientRect();
      return this.low + ((e.clientX - box.left - LEFT) / (box.width - LEFT)) * (this.high - this.low);
    };
    const row = (e: PointerEvent): number => {
      const box = c.getBoundingClientRect();
      return Math.floor((e.clientY - box.top - TOP) / rowHeight(box.height, this.rows().length));
    };
    let dragged = false;
    c.addEventListener("pointerdown", (e) => {
      dragged = true;
      c.setPointerCapture(e.pointerId);
      const rows = this.rows();
      const n = row(e);
      const step = this.stepOf(at(e));
      if (n >= 0 && n < rows.length) this.s.go(step, this.laneOfRow(rows[n], n), true);
      else this.s.go(step, this.s.lane, true);
    });
    c.addEventListener("pointermove", (e) => {
      if (dragged) this.s.go(this.stepOf(at(e)));
      this.showTip(e, at(e), row(e));
    });
    c.addEventListener("pointerup", () => (dragged = false));
    c.addEventListener("pointerleave", () => (this.tip.hidden = true));
    c.addEventListener("dblclick", () => this.whole());
    c.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && this.length <= 8) return;
        e.preventDefault();
        if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
          this.shift(((e.deltaX || e.deltaY) / 600) * (this.high - this.low));
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
    const rows = this.rows();
    const box = this.canvas.getBoundingClientRect();
    if (clock < this.low || clock > this.high || n < 0 || n >= rows.length) {
      this.tip.hidden = true;
      return;
    }
    const step = this.stepOf(clock);
    const i = this.s.rec.instruction(step);
    this.tip.textContent = `${rows[n].label}, step ${counted(step)}, line ${i.line}: ${i.text}`;
    this.tip.hidden = false;
    const x = e.clientX - box.left;
    this.tip.style.left = `${Math.min(x + 14, box.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${e.clientY - box.top + 16}px`;
  }

  // ---------------------------------------------------------------- rows

  private rows(): Row[] {
    const { rec, warp, scope } = this.s;
    if (scope === "lanes") return Array.from({ length: warp.count }, (_, n) => ({ label: `lane ${n}`, warp, block: warp.block }));
    if (scope === "warps") {
      return Array.from({ length: rec.warpsPerBlock }, (_, n) => ({
        label: `warp ${n}`, warp: rec.warp(warp.block * rec.warpsPerBlock + n), block: warp.block,
      }));
    }
    const at = rec.blockOrder.indexOf(warp.block);
    const first = Math.max(Math.min(at - MOST_ROWS / 2, rec.blockOrder.length - MOST_ROWS), 0);
    return rec.blockOrder.slice(first, first + MOST_ROWS).map((block) => ({ label: this.blockLabel(block), warp: null, block }));
  }

  private blockLabel(block: number): string {
    const [x, y, z] = this.s.rec.blockName(block);
    const [, gy, gz] = this.s.rec.track.header.grid;
    return gz > 1 ? `${x},${y},${z}` : gy > 1 ? `${x},${y}` : `block ${x}`;
  }

  // ---------------------------------------------------------------- drawing

  draw(): void {
    const { s, canvas } = this;
    const key = `${s.scope}|${s.scope === "blocks" ? 0 : s.scope === "warps" ? s.warp.block : s.rec.warpNumber(s.lane)}`;
    if (key !== this.fitted) {
      if (this.fitted.split("|")[0] !== s.scope || this.high > this.length) {
        this.low = 0;
        this.high = this.length;
      }
      this.fitted = key;
      this.hueOf.clear();
    }
    const here = Math.min(this.clockOf(s.step), this.length - 1);
    if (here < this.low || here + 1 > this.high) this.shift(here < this.low ? here - this.low - 1 : here + 2 - this.high);
    const box = this.size;
    if (!box.width) return;
    const scale = window.devicePixelRatio || 1;
    const rows = this.rows();
    const high = rowHeight(box.height, rows.length);
    const perStep = (box.width - LEFT) / (this.high - this.low);
    const colour = (name: string): string => this.colour(name);
    const what = [key, this.low, this.high, box.width, box.height, scale, colour("--ink"), rows[0].label].join("|");
    if (what !== this.drawn) {
      this.drawn = what;
      const g = fresh(this.lanes, box, scale);
      if (g) this.drawAll(g, colour, rows, box, high, perStep);
    }
    const g = fresh(canvas, box, scale);
    if (!g) return;
    g.drawImage(this.lanes, 0, 0, box.width, box.height);
    this.drawRuler(g, colour, perStep, box, rows, high);
    this.describe(here);
  }

  private drawAll(
    g: CanvasRenderingContext2D, colour: (name: string) => string, rows: Row[], box: Size, high: number, perStep: number,
  ): void {
    const { s } = this;
    const palette = Array.from({ length: HUES }, (_, n) => colour(`--hue${n}`));
    const calm = [colour("--calm"), colour("--calm2")];
    g.fillStyle = colour("--track");
    g.fillRect(LEFT, TOP, box.width - LEFT, high * rows.length);
    const paint = (x: number, w: number, n: number, fill: string, alpha: number): void => {
      g.globalAlpha = alpha;
      g.fillStyle = fill;
      g.fillRect(LEFT + x, TOP + n * high, Math.max(w - (perStep > 5 ? 1 : 0), 0.6), Math.max(high - (high > 4 ? 1 : 0.25), 0.5));
    };
    g.save();
    g.beginPath();
    g.rect(LEFT, 0, box.width - LEFT, box.height);
    g.clip();
    if (s.scope === "lanes") this.drawLanes(s.warp, perStep, paint, palette, calm);
    else this.drawRows(rows, box.width - LEFT, perStep, paint, palette, calm);
    g.restore();
    this.drawMarks(g, colour, perStep, box.width, high * rows.length);
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

  private hue(layout: number): number {
    let h = this.hueOf.get(layout);
    if (h === undefined) {
      h = this.hueOf.size % HUES;
      this.hueOf.set(layout, h);
    }
    return h;
  }

  private drawLanes(
    w: Warp, perStep: number, paint: (x: number, w: number, n: number, fill: string, alpha: number) => void, palette: string[], calm: string[],
  ): void {
    const { rec } = this.s;
    const sampled = perStep < 0.8;
    const columns = sampled ? Math.ceil((this.high - this.low) * perStep) : 0;
    if (sampled) {
      let k = 0;
      for (let x = 0; x < columns; x++) {
        const from = this.low + x / perStep;
        const to = this.low + (x + 1) / perStep;
        while (k + 1 < w.executions.length && w.start[k + 1] <= from) k++;
        const lanes = new Float32Array(WARP);
        let colour = calm[0];
        let total = 0;
        let n = k;
        const jump = Math.max(1, Math.floor((rec.placeAt(w, rec.stepAt(w, Math.floor(to))) - k) / MOST_SAMPLES));
        for (; n < w.executions.length && w.start[n] < to; n += jump) {
          const weight = Math.max(Math.min(w.start[n + 1], to) - Math.max(w.start[n], from), 0.01);
          total += weight;
          for (let lane = 0; lane < w.count; lane++) if ((w.masks[n] >>> lane) & 1) lanes[lane] += weight;
          if (w.masks[n] !== rec.living(w, n)) colour = palette[this.hue(rec.track.executions.at(w.executions[n], 0))];
        }
        for (let lane = 0; lane < w.count; lane++) if (lanes[lane]) paint(x, 1.4, lane, colour, 0.25 + 0.75 * Math.min(lanes[lane] / total, 1));
      }
      return;
    }
    for (let k = rec.placeAt(w, rec.stepAt(w, Math.floor(this.low))); k < w.executions.length && w.start[k] < this.high; k++) {
      const e = w.executions[k];
      const mask = w.masks[k];
      const layout = rec.track.executions.at(e, 0);
      const fill = mask === rec.living(w, k) ? calm[layout & 1] : palette[this.hue(layout)];
      const guarded = rec.isGuarded(e);
      for (let c = Math.max(w.start[k], Math.floor(this.low)); c < Math.min(w.start[k + 1], this.high); c++) {
        const active = guarded ? rec.executing(w, e, c - w.start[k]) : mask;
        const x = (c - this.low) * perStep;
        for (let lane = 0; lane < w.count; lane++) if ((mask >>> lane) & 1) paint(x, perStep, lane, fill, (active >>> lane) & 1 ? 1 : 0.3);
      }
    }
  }

  /** Warps or blocks: how many lanes of the row take part is how strong its colour is. */
  private drawRows(
    rows: Row[], width: number, perStep: number, paint: (x: number, w: number, n: number, fill: string, alpha: number) => void,
    palette: string[], calm: string[],
  ): void {
    const { rec } = this.s;
    const columns = perStep < 1 ? Math.ceil(width) : Math.ceil(this.high - this.low);
    const each = perStep < 1 ? 1 : perStep;
    const firstColumn = perStep < 1 ? 0 : Math.floor(this.low);
    rows.forEach((row, n) => {
      for (let x = 0; x <= columns; x++) {
        const from = perStep < 1 ? this.low + x / perStep : firstColumn + x;
        const to = perStep < 1 ? this.low + (x + 1) / perStep : from + 1;
        if (from >= this.high || from >= rec.stepCount) break;
        let share = 0;
        let fill = calm[0];
        const end = Math.min(rec.execution(Math.min(Math.ceil(to) - 1, rec.stepCount - 1)), rec.track.executions.rows - 1);
        const start = rec.execution(Math.floor(from));
        for (let e = start; e <= end; e += Math.max(1, Math.floor((end - start) / MOST_SAMPLES))) {
          const set = rec.setOf(e);
          let lanes = 0;
          let of = WARP;
          if (row.warp) {
            const places = rec.placesIn(row.warp, set);
            if (places) {
              let mask = 0;
              for (let lane = 0; lane < WARP; lane++) if (places[lane] >= 0) mask |= 1 << lane;
              lanes = countOf(mask);
            }
            of = row.warp.count;
          } else {
            lanes = rec.blocksOf(set).get(row.block) ?? 0;
            of = rec.threads;
          }
          if (lanes / of > share) {
            share = lanes / of;
            fill = lanes < of ? palette[this.hue(rec.track.executions.at(e, 0))] : calm[rec.track.executions.at(e, 0) & 1];
          }
        }
        if (share) paint(perStep < 1 ? x : (from - this.low) * perStep, each * (perStep < 1 ? 1.4 : 1), n, fill, 0.3 + 0.7 * share);
      }
    });
  }

  private drawMarks(g: CanvasRenderingContext2D, colour: (name: string) => string, perStep: number, width: number, height: number): void {
    const { rec, scope, warp } = this.s;
    const best = new Map<number, string>(); // by pixel
    const firstStep = this.stepOf(this.low);
    for (let n = rec.eventsBefore(firstStep); n < rec.events.length; n++) {
      const e = rec.events[n];
      if (!(e.kind in MARKS)) continue;
      if (scope === "lanes" ? !rec.eventMask(warp, e) : e.kind === "branch" || (scope === "warps" && !rec.blocksOf(e.lanes).has(warp.block))) continue;
      const clock = this.clockOf(e.step);
      if (clock > this.high) break;
      const x = Math.round((clock - this.low + 0.5) * perStep);
      const old = best.get(x);
      if (old === undefined || MARKS[e.kind].rank > MARKS[old].rank) best.set(x, e.kind);
    }
    for (const [px, kind] of best) {
      const x = LEFT + px;
      if (x > width || x < LEFT) continue;
      g.fillStyle = g.strokeStyle = colour(kind === "fault" ? "--bad" : kind === "finding" ? "--warn" : kind === "branch" ? "--soft" : "--ink");
      g.beginPath();
      if (kind === "fault") {
        g.moveTo(x - 6, 3);
        g.lineTo(x + 6, 3);
        g.lineTo(x, TOP - 3);
        g.fill();
        g.fillRect(x - 0.75, TOP - 3, 1.5, height + 3);
      } else if (kind === "finding") {
        g.moveTo(x, 2);
        g.lineTo(x + 5, 8);
        g.lineTo(x, 14);
        g.lineTo(x - 5, 8);
        g.fill();
      } else if (kind === "branch") {
        g.lineWidth = 1.2;
        g.moveTo(x - 3, 14);
        g.lineTo(x, 9);
        g.lineTo(x + 3, 14);
        g.moveTo(x, 9);
        g.lineTo(x, 4);
        g.stroke();
      } else {
        g.fillRect(x + perStep / 2 - 0.75, kind === "met" ? 4 : 10, 1.5, kind === "met" ? TOP - 4 + height : 6);
      }
    }
  }

  private drawRuler(
    g: CanvasRenderingContext2D, colour: (name: string) => string, perStep: number, box: Size, rows: Row[], high: number,
  ): void {
    g.font = "11px ui-sans-serif, system-ui, sans-serif";
    g.fillStyle = colour("--soft");
    g.textAlign = "right";
    g.textBaseline = "middle";
    const every = Math.max(Math.ceil(13 / high), 1);
    const step = [1, 2, 4, 8, 16, 32].find((k) => k >= every) ?? 32;
    const own = rows.findIndex((r, n) => (this.s.scope === "lanes" ? n === this.s.own : r.warp ? r.warp.index === this.s.warp.index : r.block === this.s.warp.block));
    rows.forEach((r, n) => {
      if (n !== own && (n % step || Math.abs(n - own) * high < 12)) return;
      g.fillStyle = colour(n === own ? "--accent" : "--soft");
      g.fillText(r.label, LEFT - 9, TOP + (n + 0.5) * high);
    });
    g.textAlign = "center";
    g.fillStyle = colour("--soft");
    const span = this.high - this.low;
    const unit = niceUnit(span / Math.max(Math.floor((box.width - LEFT) / 110), 1));
    for (let c = Math.ceil(this.low / unit) * unit; c < this.high; c += unit) {
      const x = LEFT + (c - this.low + 0.5) * perStep;
      if (x > box.width - 14) break;
      g.fillText(counted(this.s.scope === "lanes" ? this.stepOf(c) : c), Math.max(x, LEFT + 6), TOP + rows.length * high + BOTTOM / 2 + 1);
    }
    const x = LEFT + (this.clockOf(this.s.step) - this.low) * perStep;
    g.strokeStyle = g.fillStyle = colour("--accent");
    const wide = Math.max(perStep, 1.5);
    g.lineWidth = 1.5;
    if (perStep > 5) g.strokeRect(x - 0.75, TOP - 2, wide + 0.5, rows.length * high + 3);
    else g.fillRect(x, TOP - 2, 1.5, rows.length * high + 4);
    g.beginPath();
    const middle = perStep > 5 ? x + wide / 2 : x + 0.75;
    const bottom = TOP + rows.length * high + 2;
    g.moveTo(middle, bottom);
    g.lineTo(middle + 4.5, bottom + 6);
    g.lineTo(middle - 4.5, bottom + 6);
    g.fill();
    if (span < this.length) {
      g.fillStyle = colour("--line");
      g.fillRect(LEFT, box.height - 2, box.width - LEFT, 2);
      g.fillStyle = colour("--soft");
      g.fillRect(LEFT + (this.low / this.length) * (box.width - LEFT), box.height - 2, Math.max((span / this.length) * (box.width - LEFT), 8), 2);
      g.fillStyle = colour("--accent");
    }
    if (own >= 0) {
      g.globalAlpha = 0.55;
      g.fillRect(LEFT - 5, TOP + own * high, 3, Math.max(high - 1, 1));
      g.globalAlpha = 1;
    }
  }

  private describe(here: number): void {
    const { s } = this;
    for (const b of this.scopes.children) b.setAttribute("aria-pressed", String((b as HTMLElement).dataset.scope === s.scope));
    const of = s.scope === "lanes" ? `the ${plural(this.length, "step")} of warp ${s.warp.index}` : plural(this.length, "step");
    this.title.textContent = this.high - this.low < this.length ? `${counted(Math.ceil(this.high - this.low))} of ${of}` : of;
    const next = s.rec.nextSteps(s.warp, s.step);
    let mask = 0;
    next.forEach((n, lane) => (mask |= n === s.step ? 1 << lane : 0));
    const i = s.rec.instruction(s.step);
    this.canvas.setAttribute("aria-valuemin", "0");
    this.canvas.setAttribute("aria-valuemax", String(this.length - 1));
    this.canvas.setAttribute("aria-valuenow", String(here));
    this.canvas.setAttribute("aria-valuetext", `step ${s.step}, line ${i.line}, ${i.text}, lanes ${rangesOf(mask)}`);
  }
}

function rowHeight(height: number, rows: number): number {
  return Math.min((height - TOP - BOTTOM) / rows, MOST_HIGH);
}

interface Size {
  width: number;
  height: number;
}

/** An empty canvas of a size, to be drawn on. */
function fresh(canvas: HTMLCanvasElement, size: Size, scale: number): CanvasRenderingContext2D | null {
  canvas.width = Math.round(size.width * scale);
  canvas.height = Math.round(size.height * scale);
  const g = canvas.getContext("2d");
  g?.scale(scale, scale);
  return g;
}

function niceUnit(at_least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(at_least, 1)));
  return ([1, 2, 5, 10].find((k) => k * power >= at_least) ?? 10) * power;
}
