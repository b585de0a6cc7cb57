// Registers of the warp after the step: one cell for what all lanes share, base + n × lane for lines, else 32 cells.
import { el, laneStrip } from "./dom";
import type { Held } from "./registers";
import type { Session } from "./session";
import { rangesOf, shapeOf, valueText } from "./values";

const LONG = 6; // characters of a value that fits where 8 lanes stand in a row

export class RegisterView {
  readonly element: HTMLElement;
  private readonly body = el("div", { class: "registers", tabindex: 0, role: "grid", "aria-label": "Registers" });
  private readonly title = el("span", { class: "quiet" });
  private readonly filter: HTMLInputElement;
  private hex = false;
  private cursor = "";
  private held = new Map<string, Held>();
  private rows = new Map<string, { key: string; element: HTMLElement }>(); // what is shown: a row that is as it was stays

  constructor(private readonly s: Session) {
    this.filter = el("input", { type: "search", placeholder: "filter", "aria-label": "Filter registers", size: 8, oninput: () => this.update() });
    const hex: HTMLElement = el("button", {
      class: "flat", title: "Hexadecimal (x)", "aria-pressed": "false", onclick: () => this.toggleHex(),
    }, "hex");
    this.element = el(
      "section", { class: "register-view", "aria-label": "Registers" },
      el("header", {}, el("h2", {}, "Registers"), this.title, el("span", { class: "spring" }), hex, this.filter), this.body,
    );
    this.body.addEventListener("click", (e) => {
      const cell = (e.target as HTMLElement).closest<HTMLElement>("[data-register]");
      if (cell) this.pick(cell.dataset.register ?? "", cell.dataset.lane === undefined ? this.s.own : Number(cell.dataset.lane));
    });
    this.body.addEventListener("keydown", (e) => this.typed(e));
  }

  toggleHex(): void {
    this.hex = !this.hex;
    this.element.querySelector("button.flat")?.setAttribute("aria-pressed", String(this.hex));
    this.update();
  }

  /** A value is clicked, here or in the source. */
  pick(name: string, lane = this.s.own): void {
    const h = this.held.get(name);
    const frame = this.s.frame;
    if (!h || !frame || h.bits[lane] === null) return;
    this.cursor = name;
    const who = this.s.warp.first + lane;
    const text = valueText(h.bits[lane], this.s.registers.type(frame, name), this.hex);
    this.s.choose(name, text, who, h.step[lane] >= 0 ? { step: h.step[lane], lane: who } : null);
  }

  valueOf(name: string): string {
    const h = this.held.get(name);
    const frame = this.s.frame;
    return h && frame && h.bits[this.s.own] !== null ? valueText(h.bits[this.s.own], this.s.registers.type(frame, name), this.hex) : "nothing yet";
  }

  private typed(e: KeyboardEvent): void {
    const names = [...this.held.keys()];
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const at = names.indexOf(this.cursor) + (e.key === "ArrowDown" ? 1 : -1);
      this.cursor = names[Math.min(Math.max(at, 0), names.length - 1)] ?? "";
      this.update();
      this.body.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
    } else if (e.key === "Enter") {
      this.pick(this.cursor);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  update(): void {
    const { s } = this;
    const { rec, warp, own, step } = s;
    const frame = s.frame;
    this.held = new Map();
    const wanted = this.filter.value.trim().toLowerCase();
    const rows = new Map<string, { key: string; element: HTMLElement }>();
    for (const name of frame ? s.registers.names(frame) : []) {
      if (!frame || (wanted && !name.toLowerCase().includes(wanted))) continue;
      const h = s.registers.held(warp, name, step + 1, frame);
      if (h.bits.every((b) => b === null)) continue;
      this.held.set(name, h);
      const type = s.registers.type(frame, name);
      const key = this.keyOf(name, type, h, own, step);
      const old = this.rows.get(name);
      rows.set(name, old?.key === key ? old : { key, element: this.row(name, type, h, own, step) });
    }
    const depth = frame?.depth ? `, ${frame.depth} call${frame.depth > 1 ? "s" : ""} deep` : "";
    const several = Object.keys(rec.track.header.registers).length > 1 && frame ? `${frame.function}${depth}, ` : "";
    this.title.textContent = `${several}warp ${warp.index}, after the step`;
    if (rows.size && [...rows.keys()].join() === [...this.rows.keys()].join()) {
      for (const [name, row] of rows) {
        const old = this.rows.get(name);
        if (old && old !== row) old.element.replaceWith(row.element);
      }
    } else if (rows.size) this.body.replaceChildren(...[...rows.values()].map((r) => r.element));
    else this.body.replaceChildren(el("p", { class: "quiet" }, wanted ? "No register has this name." : "Nothing is written yet."));
    this.rows = rows;
  }

  /** What a row shows depends on this. */
  private keyOf(name: string, type: string, h: Held, own: number, step: number): string {
    const chosen = this.s.chosen?.name === name ? this.s.chosen.lane : "";
    let fresh = 0;
    h.step.forEach((at, lane) => (fresh |= at === step ? 1 << lane : 0));
    return [type, own, this.s.warp.first, fresh, this.cursor === name, chosen, this.hex, h.bits.join()].join("|");
  }

  private row(name: string, type: string, h: Held, own: number, step: number): HTMLElement {
    const changed = h.step.some((at) => at === step);
    const chosen = this.s.chosen;
    const isChosen = (lane: number): boolean => chosen?.name === name && chosen.lane === this.s.warp.first + lane;
    const out = el(
      "div", { class: `register${changed ? " changed" : ""}${name === this.cursor ? " cursor" : ""}`, role: "row" },
      el("span", { class: "name", role: "rowheader" }, name, el("small", {}, `.${type}`)),
    );
    const shape = shapeOf(h.bits.slice(0, this.s.warp.count), type);
    const missing = h.bits.slice(0, this.s.warp.count).some((b) => b === null);
    if (type === "pred" && shape.kind === "each") {
      let mask = 0;
      h.bits.forEach((b, lane) => (mask |= b ? 1 << lane : 0));
      out.append(el(
        "button", { class: `one${changed ? " new" : ""}${isChosen(own) ? " chosen" : ""}`, role: "gridcell", tabindex: -1, "data-register": name },
        laneStrip(mask, own), el("span", { class: "slope" }, ` true in ${rangesOf(mask)}`),
      ));
      return out;
    }
    if (shape.kind === "each" || missing) {
      const texts = h.bits.map((b) => valueText(b, type, this.hex));
      const wide = texts.some((t) => t.length > LONG);
      const cells = el("div", { class: wide ? "lanes wide" : "lanes", role: "presentation" });
      for (let lane = 0; lane < this.s.warp.count; lane++) {
        const text = texts[lane];
        const kind = [
          lane === own ? "own" : "", h.step[lane] === step ? "new" : "", h.bits[lane] === null ? "none" : "", isChosen(lane) ? "chosen" : "",
          text === "nan" || text.endsWith("inf") ? "bad" : "",
        ].filter(Boolean).join(" ");
        cells.append(el("button", {
          class: kind || undefined, role: "gridcell", tabindex: -1, "data-register": name, "data-lane": lane,
          title: `lane ${lane}: ${text || "not written"}`, "aria-label": `${name} lane ${lane}: ${text || "not written"}`,
        }, h.bits[lane] === null ? "·" : text));
      }
      out.append(cells);
      return out;
    }
    const kind = `one${changed ? " new" : ""}${isChosen(own) ? " chosen" : ""}`;
    const text = shape.kind === "uniform" ? valueText(shape.value, type, this.hex) : valueText(shape.base, type, this.hex);
    const bad = text === "nan" || text.endsWith("inf") ? " bad" : "";
    const cell = el("button", { class: kind + bad, role: "gridcell", tabindex: -1, "data-register": name }, text);
    if (shape.kind === "line") {
      const by = shape.slope < 0n ? -shape.slope : shape.slope;
      cell.append(el("span", { class: "slope" }, ` ${shape.slope < 0n ? "−" : "+"} ${by === 1n ? "" : `${by} × `}lane`));
      cell.append(el("span", { class: "mine" }, valueText(h.bits[own], type, this.hex)));
    }
    out.append(cell);
    return out;
  }
}
