// The picture of the lanes over time, drawn on a canvas.
import { counted } from "./dom";
import { WARP } from "./lanes";
import type { Warp } from "./recording";
import type { Session } from "./session";
import type { Row, TimeWindow } from "./time_window";
import { countOf } from "./values";

const HUES = 8;
const RANKS: Record<string, number> = { fault: 4, finding: 3, branch: 2, met: 1, wait: 0, arrive: 0 }; // of two marks at one place the higher one is drawn
export const LEFT = 64;
export const TOP = 18; // of the rows: marks stand above
const BOTTOM = 18;
const MOST_HIGH = 30; // of a row
const MOST_SAMPLES = 6;

export interface Size {
  width: number;
  height: number;
}

export function rowHeight(height: number, rows: number): number {
  return Math.min((height - TOP - BOTTOM) / rows, MOST_HIGH);
}

type Paint = (x: number, w: number, n: number, fill: string, alpha: number) => void;

/** One picture: `colour` is that of the page by its name, light or dark. */
export class Drawing {
  private readonly perStep: number;
  private readonly high: number; // of a row
  private readonly palette: string[];
  private readonly calm: string[];

  constructor(
    private readonly g: CanvasRenderingContext2D,
    private readonly s: Session,
    private readonly time: TimeWindow,
    private readonly rows: Row[],
    private readonly box: Size,
    private readonly colour: (name: string) => string,
  ) {
    this.perStep = (box.width - LEFT) / (time.high - time.low);
    this.high = rowHeight(box.height, rows.length);
    this.palette = Array.from({ length: HUES }, (_, n) => colour(`--hue${n}`));
    this.calm = [colour("--calm"), colour("--calm2")];
  }

  /** All but the place where one looks. */
  lanes(): void {
    const { g, s, rows, box, high, perStep } = this;
    g.fillStyle = this.colour("--track");
    g.fillRect(LEFT, TOP, box.width - LEFT, high * rows.length);
    const paint: Paint = (x, w, n, fill, alpha) => {
      g.globalAlpha = alpha;
      g.fillStyle = fill;
      g.fillRect(LEFT + x, TOP + n * high, Math.max(w - (perStep > 5 ? 1 : 0), 0.6), Math.max(high - (high > 4 ? 1 : 0.25), 0.5));
    };
    g.save();
    g.beginPath();
    g.rect(LEFT, 0, box.width - LEFT, box.height);
    g.clip();
    if (s.scope === "lanes") this.drawLanes(s.warp, paint);
    else this.drawRows(paint);
    g.restore();
    this.drawMarks();
  }

  private hue(layout: number): number {
    const known = this.time.hueOf;
    let h = known.get(layout);
    if (h === undefined) {
      h = known.size % HUES;
      known.set(layout, h);
    }
    return h;
  }

  private drawLanes(w: Warp, paint: Paint): void {
    const { perStep, palette, calm } = this;
    const { low, high } = this.time;
    const { rec } = this.s;
    const sampled = perStep < 0.8;
    const columns = sampled ? Math.ceil((high - low) * perStep) : 0;
    if (sampled) {
      let k = 0;
      for (let x = 0; x < columns; x++) {
        const from = low + x / perStep;
        const to = low + (x + 1) / perStep;
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
    for (let k = rec.placeAt(w, rec.stepAt(w, Math.floor(low))); k < w.executions.length && w.start[k] < high; k++) {
      const e = w.executions[k];
      const mask = w.masks[k];
      const layout = rec.track.executions.at(e, 0);
      const fill = mask === rec.living(w, k) ? calm[layout & 1] : palette[this.hue(layout)];
      const guarded = rec.isGuarded(e);
      for (let c = Math.max(w.start[k], Math.floor(low)); c < Math.min(w.start[k + 1], high); c++) {
        const active = guarded ? rec.executing(w, e, c - w.start[k]) : mask;
        const x = (c - low) * perStep;
        for (let lane = 0; lane < w.count; lane++) if ((mask >>> lane) & 1) paint(x, perStep, lane, fill, (active >>> lane) & 1 ? 1 : 0.3);
      }
    }
  }

  /** Warps or blocks: how many lanes of the row take part is how strong its colour is. */
  private drawRows(paint: Paint): void {
    const { perStep, palette, calm, rows } = this;
    const { low, high } = this.time;
    const { rec } = this.s;
    const width = this.box.width - LEFT;
    const columns = perStep < 1 ? Math.ceil(width) : Math.ceil(high - low);
    const each = perStep < 1 ? 1 : perStep;
    const firstColumn = perStep < 1 ? 0 : Math.floor(low);
    rows.forEach((row, n) => {
      for (let x = 0; x <= columns; x++) {
        const from = perStep < 1 ? low + x / perStep : firstColumn + x;
        const to = perStep < 1 ? low + (x + 1) / perStep : from + 1;
        if (from >= high || from >= rec.stepCount) break;
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
        if (share) paint(perStep < 1 ? x : (from - low) * perStep, each * (perStep < 1 ? 1.4 : 1), n, fill, 0.3 + 0.7 * share);
      }
    });
  }

  private drawMarks(): void {
    const { g, colour, perStep, time } = this;
    const { width } = this.box;
    const { low, high } = time;
    const height = this.high * this.rows.length;
    const { rec, scope, warp } = this.s;
    const best = new Map<number, string>(); // by pixel
    const firstStep = time.stepOf(low);
    for (let n = rec.eventsBefore(firstStep); n < rec.events.length; n++) {
      const e = rec.events[n];
      if (!(e.kind in RANKS)) continue;
      if (scope === "lanes" ? !rec.eventMask(warp, e) : e.kind === "branch" || (scope === "warps" && !rec.blocksOf(e.lanes).has(warp.block))) continue;
      const clock = time.clockOf(e.step);
      if (clock > high) break;
      const x = Math.round((clock - low + 0.5) * perStep);
      const old = best.get(x);
      if (old === undefined || RANKS[e.kind] > RANKS[old]) best.set(x, e.kind);
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

  /** The names of the rows, the numbers of the steps, and the place where one looks. */
  place(): void {
    const { g, colour, perStep, box, rows, high, time } = this;
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
    const span = time.high - time.low;
    const unit = niceUnit(span / Math.max(Math.floor((box.width - LEFT) / 110), 1));
    for (let c = Math.ceil(time.low / unit) * unit; c < time.high; c += unit) {
      const x = LEFT + (c - time.low + 0.5) * perStep;
      if (x > box.width - 14) break;
      g.fillText(counted(this.s.scope === "lanes" ? time.stepOf(c) : c), Math.max(x, LEFT + 6), TOP + rows.length * high + BOTTOM / 2 + 1);
    }
    const x = LEFT + (time.clockOf(this.s.step) - time.low) * perStep;
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
    if (span < time.length) {
      g.fillStyle = colour("--line");
      g.fillRect(LEFT, box.height - 2, box.width - LEFT, 2);
      g.fillStyle = colour("--soft");
      g.fillRect(LEFT + (time.low / time.length) * (box.width - LEFT), box.height - 2, Math.max((span / time.length) * (box.width - LEFT), 8), 2);
      g.fillStyle = colour("--accent");
    }
    if (own >= 0) {
      g.globalAlpha = 0.55;
      g.fillRect(LEFT - 5, TOP + own * high, 3, Math.max(high - 1, 1));
      g.globalAlpha = 1;
    }
  }
}

function niceUnit(at_least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(at_least, 1)));
  return ([1, 2, 5, 10].find((k) => k * power >= at_least) ?? 10) * power;
}
