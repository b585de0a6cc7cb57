// The value that was clicked: which step wrote it, and, at the second click, the instructions that it comes from.
import { el } from "./dom";
import { laneName } from "./memory_view";
import type { Session } from "./session";

export class ValueView {
  readonly element: HTMLElement;
  private readonly body = el("div", { class: "value-body", "aria-live": "polite" });

  constructor(private readonly s: Session) {
    this.element = el("section", { class: "value-view", "aria-label": "Where a value comes from" }, this.body);
  }

  update(): void {
    const { s } = this;
    const c = s.chosen;
    this.element.hidden = c === null;
    if (!c) return;
    const close = el("button", { class: "flat", title: "Close (Esc)", "aria-label": "Close", onclick: () => { s.chosen = null; s.changed(); } }, "×");
    const head = el("header", {}, el("h2", {}, "Value"), el("code", { class: "chosen-name" }, `${c.name} = ${c.text}`), el("span", { class: "spring" }), close);
    if (!c.from) {
      this.body.replaceChildren(head, el("p", { class: "quiet" }, "No recorded step wrote it: it was there before the launch."));
      return;
    }
    const from = c.from;
    const place = el("p", {}, `Written at step ${from.step}, line ${s.rec.instruction(from.step).line}, by ${laneName(s, from.lane)}.`);
    if (!c.why) {
      const ask = el("button", { class: "flat", onclick: () => { s.chosen = { ...c, why: true }; s.changed(); } }, "where from?");
      this.body.replaceChildren(head, place, el("p", { class: "quiet" }, "Click the value again for the instructions that it comes from. ", ask));
      return;
    }
    const rows = s.slices.why(from).map((one) => {
      const made = one.written.map((w) => `${w.name} = ${w.text}`).join(", ");
      const read = one.read.map((r) => `${r.name} = ${r.text}${r.from ? "" : " (before the launch)"}`).join(", ");
      const other = one.lane === from.lane ? "" : `${laneName(s, one.lane)}: `;
      return el("li", {}, el(
        "button", { class: one.step === s.step && one.lane === s.lane ? "own" : undefined, onclick: () => s.go(one.step, one.lane, true) },
        el("b", {}, `${one.step}`), el("code", {}, one.instruction.text), el("span", { class: "quiet" }, `${other}${read}${made ? ` → ${made}` : ""}`),
      ));
    });
    this.body.replaceChildren(head, place, el("ol", { class: "slice" }, ...rows));
  }
}
