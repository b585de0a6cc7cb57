// The warps of the block: where their lanes stand, and what each waits for.
import { el, laneStrip } from "./dom";
import type { Session } from "./session";
import { countOf } from "./values";

export class WarpView {
  readonly element: HTMLElement;
  private readonly body = el("ul", { class: "warps" });

  constructor(private readonly s: Session) {
    this.element = el("section", { class: "warp-view", "aria-label": "Warps of the block" }, el("header", {}, el("h2", {}, "Warps of the block")), this.body);
  }

  update(): void {
    const { s } = this;
    const { rec, step } = s;
    const rows: HTMLElement[] = [];
    for (let n = 0; n < rec.warpsPerBlock; n++) {
      const w = rec.warp(s.warp.block * rec.warpsPerBlock + n);
      const lines = new Map<number, number>();
      let alive = 0;
      let now = 0;
      rec.nextSteps(w, step).forEach((next, lane) => {
        if (next < 0) return;
        const line = rec.instruction(next).line;
        lines.set(line, (lines.get(line) ?? 0) | (1 << lane));
        alive |= 1 << lane;
        if (next === step) now |= 1 << lane;
      });
      const why = rec.waiting(w, step);
      const places = [...lines].sort((a, b) => a[0] - b[0]).map(([line, m]) => (lines.size > 1 ? `${countOf(m >>> 0)} at line ${line}` : `line ${line}`));
      const text = why ? `waits: ${why}` : !alive ? "ended" : places.slice(0, 4).join(", ") + (places.length > 4 ? ", …" : "");
      const own = n === s.warp.index;
      rows.push(el(
        "li", {}, el("button", {
          class: `${own ? "own" : ""} ${now ? "now" : ""} ${why ? "waits" : ""} ${alive ? "" : "over"}`.trim(),
          "aria-current": own ? "true" : undefined, onclick: () => s.go(s.step, w.first + Math.min(s.own, w.count - 1)),
        }, el("b", {}, `${n}`), laneStrip(now || alive, own ? s.own : -1), el("span", {}, text)),
      ));
    }
    this.body.replaceChildren(...rows);
  }
}
