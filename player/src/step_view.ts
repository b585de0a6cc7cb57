// This step: the instruction, what the lane read and wrote, what happened beside that, and its accesses drawn from lanes to memory.
import { accessPicture } from "./access_picture";
import { el, laneStrip, plural } from "./dom";
import type { Session } from "./session";
import { type Link, type Writer, unwritten } from "./slices";
import { countOf, rangesOf } from "./values";

export class StepView {
  readonly element: HTMLElement;
  private readonly body = el("div", { class: "step-body" });

  constructor(private readonly s: Session) {
    this.element = el("section", { class: "step-view", "aria-label": "This step" }, el("header", {}, el("h2", {}, "This step")), this.body);
  }

  update(): void {
    const { s } = this;
    const { rec, warp, own, step } = s;
    const next = rec.nextSteps(warp, step);
    let mask = 0;
    next.forEach((n, lane) => (mask |= n === step ? 1 << lane : 0));
    const i = rec.instruction(step);
    const parts: (HTMLElement | SVGElement)[] = [];
    const where = `line ${i.line}${i.source ? ` · ${i.source.slice(i.source.lastIndexOf("/") + 1)}` : ""}`;
    parts.push(el("p", { class: "instruction" }, el("code", {}, i.text), el("span", { class: "quiet" }, where)));
    if (!mask) {
      const why = rec.waiting(warp, step);
      const ended = next.every((n) => n < 0);
      parts.push(el("p", {}, `Warp ${warp.index} takes no part in this step: ${ended ? "it has ended" : why ? `it waits (${why})` : "other warps are at work"}.`));
    } else {
      const e = rec.execution(step);
      const active = rec.executing(warp, e, step - rec.first[e]);
      const off = mask & ~active;
      const taken = rec.isBranch(e, step - rec.first[e]) && i.guard ? countOf(rec.guard(warp, e, step - rec.first[e])) : -1;
      parts.push(el(
        "p", { class: "who" }, laneStrip(active, own),
        `${plural(countOf(active >>> 0), "lane")} execute${countOf(active >>> 0) === 1 ? "s" : ""} it${off ? `; the guard does not hold in ${countOf(off >>> 0)}` : ""}${taken >= 0 ? `; ${taken} take the branch` : ""}`,
      ));
      if ((mask >>> own) & 1) parts.push(this.effects(s.slices.link(step, s.lane)));
      else parts.push(el("p", { class: "quiet" }, `Lane ${own} is not among them.`));
    }
    for (let n = rec.eventsBefore(step); n < rec.events.length && rec.events[n].step === step; n++) {
      const event = rec.events[n];
      const lanes = rec.eventMask(warp, event);
      if (!lanes) continue;
      const words: Record<string, string> = { branch: `lanes ${rangesOf(lanes)} take the branch`, met: `all are there: ${event.text}`, arrive: `arrives: ${event.text}`, wait: `waits: ${event.text}` };
      parts.push(el("p", { class: `event ${event.kind}` }, words[event.kind] ?? `${event.kind}: ${event.text}`));
    }
    for (const a of s.memory.at(step)) {
      const picture = accessPicture(s, a);
      if (picture) parts.push(picture);
    }
    this.body.replaceChildren(...parts);
  }

  private effects(link: Link): HTMLElement {
    const { s } = this;
    const out = el("dl", { class: "effects" });
    const row = (word: string, name: string, text: string, from: Writer | null, isRead: boolean): void => {
      const origin = from ? (isRead ? `step ${from.step}` : "") : unwritten(name);
      out.append(
        el("dt", {}, word),
        el("dd", {}, el("code", {}, name), " = ",
          el("button", { class: "value", disabled: !from, onclick: () => s.choose(name, text, link.lane, from) }, text),
          el("small", {}, origin)),
      );
    };
    for (const r of link.read) row("reads", r.name, r.text, r.from, true);
    for (const w of link.written) {
      row("writes", w.name, w.text, { step: link.step, lane: link.lane, ...(w.place ? { place: w.place } : {}) }, false);
    }
    return out;
  }
}
