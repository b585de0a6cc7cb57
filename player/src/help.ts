// The help that ? opens.
import { el } from "./dom";
import type { Key } from "./keys";

export function helpOf(keys: Key[]): HTMLDialogElement {
  const rows = keys.map((k) => el("tr", {}, el("th", {}, ...k.shown.split(" ").map((one) => el("kbd", {}, one))), el("td", {}, k.does)));
  const inside: [string, string][] = [
    ["source", "↑ ↓ choose a line, Enter goes to the next step that executes it, Shift+Enter to the previous one; a click does the same; a click on a register of the current line is one on its value"],
    ["registers", "↑ ↓ choose a register, Enter goes to the step that wrote its value, Enter again shows where the value comes from; a click on a value does the same"],
    ["memory", "arrows choose a cell, Enter and clicks as for registers; the wheel scrolls"],
    ["lanes over time", "drag to any step; the wheel zooms, Shift+wheel moves; a double click shows the whole launch"],
  ];
  const dialog = el(
    "dialog", { class: "help", "aria-label": "Help" },
    el("h2", {}, "Keys"), el("table", {}, el("tbody", {}, ...rows)),
    el("h2", {}, "In a panel (Tab moves between them)"),
    el("dl", {}, ...inside.flatMap(([where, what]) => [el("dt", {}, where), el("dd", {}, what)])),
    el("p", { class: "quiet" }, "What is shown is the state after the step, so the results of its instruction are seen; they are underlined. The address of the page keeps the step and the lane, so that a link leads here."),
    el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")),
  );
  return dialog;
}
