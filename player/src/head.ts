// The head of the page: the launch, where one looks, and the buttons that move.
import { counted, el, icon } from "./dom";
import type { Session } from "./session";

export class Head {
  readonly element: HTMLElement;
  private readonly block: HTMLInputElement;
  private readonly thread: HTMLInputElement;
  private readonly step: HTMLInputElement;
  private readonly where = el("span", { class: "quiet" });
  private readonly said = el("span", { class: "spoken", role: "status", "aria-live": "polite" });

  constructor(
    private readonly s: Session,
    launches: HTMLElement | null,
    help: () => void,
    theme: () => void,
    save: () => void,
  ) {
    const h = s.rec.track.header;
    const size = (d: number[]): string => d.slice(0, d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1).join("×");
    const field = (label: string, title: string, change: (text: string) => void, width: number): HTMLInputElement =>
      el("input", { "aria-label": label, title, size: width, inputmode: "numeric", onchange: (e: Event) => change((e.target as HTMLInputElement).value) });
    this.block = field("Block", "Block: a number, or coordinates", (t) => this.goBlock(t), 5);
    this.thread = field("Thread", "Thread of the block: a number, or coordinates; 3:17 is thread 17 of block 3 (G)", (t) => this.goThread(t), 5);
    this.step = field("Step", "Step (g)", (t) => this.goStep(t), 6);
    const button = (sign: Parameters<typeof icon>[0], title: string, run: () => void): HTMLElement => el("button", { title, "aria-label": title, onclick: run }, icon(sign));
    this.element = el(
      "header", { class: "head" },
      el("div", { class: "name" }, el("span", { class: "mark" }, "warplab"), el("h1", { title: h.kernel }, s.extras.title, el("small", {}, `<<<${size(h.grid)}, ${size(h.block)}>>>`)), el("span", { class: "quiet" }, h.device), launches),
      el(
        "div", { class: "transport", role: "group", "aria-label": "Steps" },
        button("first", "First step (Home)", () => s.go(0, s.lane, true)),
        button("previous", "Previous step of the warp (←)", () => s.stepBy(-1)),
        el("label", {}, "step ", this.step), el("span", { class: "quiet" }, `of ${counted(s.rec.stepCount)}`),
        button("next", "Next step of the warp (→)", () => s.stepBy(1)),
        button("last", "Last step (End)", () => s.go(s.rec.stepCount, s.lane, true)),
        button("event", "Next divergence, barrier, fault or finding of the warp (n)", () => s.eventBy(1)),
        button("back", "Back to where you were (b)", () => s.back()),
      ),
      el("div", { class: "place" }, el("label", {}, "block ", this.block), el("label", {}, "thread ", this.thread), this.where),
      el(
        "div", { class: "tools" }, button("save", "Save the recording, for warplab debug", save),
        el("button", { "data-switch": "theme", "aria-label": "Colours", title: "Colours (t)", onclick: theme }, icon("theme")), button("help", "Help (?)", help),
      ),
      this.said,
    );
  }

  private goStep(text: string): void {
    if (/^\d+$/.test(text.trim())) this.s.go(Number(text), this.s.lane, true);
    else this.update();
    if (document.activeElement === this.step) this.step.blur();
  }

  focusStep(): void {
    this.step.focus();
    this.step.select();
  }

  focusThread(): void {
    this.thread.focus();
    this.thread.select();
  }

  private goBlock(text: string): void {
    const { rec } = this.s;
    const found = this.blockOf(text);
    if (found !== undefined) this.s.go(this.s.step, found * rec.threads + (this.s.lane % rec.threads), true);
    else this.update();
  }

  /** A recorded block by its number or coordinates. */
  private blockOf(text: string): number | undefined {
    const { rec } = this.s;
    const at = numbers(text);
    const [x, y] = rec.track.header.grid;
    const want = at.length === 1 ? [at[0] % x, Math.floor(at[0] / x) % y, Math.floor(at[0] / (x * y))] : [...at, 0, 0].slice(0, 3);
    return rec.blockOrder.find((b) => rec.blockName(b).join() === want.join());
  }

  private goThread(text: string): void {
    const { rec } = this.s;
    const [first, second] = text.split(":");
    const block = second === undefined ? Math.floor(this.s.lane / rec.threads) : this.blockOf(first);
    const at = numbers(second ?? first);
    const [x, y] = rec.track.header.block;
    const t = at.length === 1 ? at[0] : (at[0] ?? 0) + x * ((at[1] ?? 0) + y * (at[2] ?? 0));
    if (block !== undefined && at.length && t < rec.threads) this.s.go(this.s.step, block * rec.threads + t, true);
    else this.update();
    if (document.activeElement === this.thread) this.thread.blur(); // so that keys mean steps again
  }

  update(): void {
    const { s } = this;
    const { rec } = s;
    const short = (d: number[], of: number[]): string => d.slice(0, of[2] > 1 ? 3 : of[1] > 1 ? 2 : 1).join(",");
    const h = rec.track.header;
    this.block.value = short(rec.blockName(Math.floor(s.lane / rec.threads)), h.grid);
    this.thread.value = short(rec.threadName(s.lane), h.block);
    this.step.value = String(s.step);
    this.where.textContent = `warp ${s.warp.index}, lane ${s.own}`;
    const i = rec.instruction(s.step);
    this.said.textContent = `step ${s.step}, line ${i.line}: ${i.text}; warp ${s.warp.index}, lane ${s.own}`;
  }
}

function numbers(text: string): number[] {
  const parts = text.split(",").map((t) => t.trim());
  return parts.every((t) => /^\d+$/.test(t)) && parts.length <= 3 ? parts.map(Number) : [];
}
