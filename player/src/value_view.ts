// The value that was clicked: which step wrote it, and, at the second click, the instructions that it comes from.
import { el } from "./dom";
import { laneName } from "./memory_view";
import type { Session } from "./session";
import { type Place, unwritten } from "./slices";
import { sizeOf, valueText } from "./values";

const MOST_WRITERS = 200;

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
      this.body.replaceChildren(head, el("p", { class: "quiet" }, "No recorded step wrote it: " + (c.name.startsWith("%") ? "it was read before it was written." : "it was there before the launch.")));
      return;
    }
    const from = c.from;
    const place = el("p", {}, `Written at step ${from.step}, line ${s.rec.instruction(from.step).line}, by ${laneName(s, from.lane)}.`);
    const ask = el("button", { class: "flat", title: "The instructions that it comes from (w)", disabled: c.why, onclick: () => s.why() }, "where from?");
    const all = el("button", { class: "flat", title: "Every step that wrote it (W)", disabled: c.all ?? false, onclick: () => s.writers() }, "all writes");
    const asks = el("p", { class: "quiet" }, ask, ...(from.place ? [" ", all] : []));
    if (!c.why) {
      this.body.replaceChildren(head, place, asks, ...(c.all && from.place ? [this.writers(from.place, c.name)] : []));
      return;
    }
    const rows = s.slices.why(from).map((one) => {
      const made = one.written.map((w) => `${w.name} = ${w.text}`).join(", ");
      const read = one.read.map((r) => `${r.name} = ${r.text}${r.from ? "" : ` (${unwritten(r.name)})`}`).join(", ");
      const isBorn = one.written.some((w) => isBad(w.text)) && !one.read.some((r) => isBad(r.text));
      const other = one.lane === from.lane ? "" : `${laneName(s, one.lane)}: `;
      return el("li", {}, el(
        "button", { class: one.step === s.step && one.lane === s.lane ? "own" : undefined, onclick: () => s.go(one.step, one.lane, true) },
        el("b", {}, `${one.step}`), el("code", {}, one.instruction.text, isBorn ? el("em", {}, " born here") : ""), el("span", { class: "quiet" }, `${other}${read}${made ? ` → ${made}` : ""}`),
      ));
    });
    this.body.replaceChildren(head, place, asks, el("ol", { class: "slice" }, ...rows));
  }

  /** Every write of an element, the first one first. */
  private writers(place: Place, name: string): HTMLElement {
    const { s } = this;
    const found = s.memory.writers(place.space, place.owner, place.address, place.address + place.size);
    const o = s.memory.objectAt(place.space, place.address);
    const type = o && sizeOf(o.type) === place.size ? o.type : `b${8 * place.size}`;
    const rows = found.slice(0, MOST_WRITERS).map((one) => el("li", {}, el(
      "button", { class: one.step === s.step && one.lane === s.lane ? "own" : undefined, onclick: () => s.go(one.step, one.lane, true) },
      el("b", {}, `${one.step}`), el("code", {}, s.rec.instruction(one.issued).text),
      el("span", { class: "quiet" }, `${laneName(s, one.lane)}${one.bits === null ? "" : ` → ${name} = ${valueText(one.bits, type)}`}`),
    )));
    if (found.length > rows.length) rows.push(el("li", {}, el("p", { class: "quiet" }, `${found.length} writes in all`)));
    return el("ol", { class: "slice" }, ...rows);
  }
}

function isBad(text: string): boolean {
  return text === "nan" || text.endsWith("inf");
}
