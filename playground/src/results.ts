// What came of a run, of the checkers and of a lab's tests.
import { make } from "./dom";
import type { Answer, Finding, RunPart, TestResult } from "./server";

export interface Goto { (line: number): void }

/** The line of the program itself: of CUDA C++ that of its .loc. */
export function lineOf(f: Finding, isCuda: boolean, other = false): number {
  const source = other ? f.other_source : f.source;
  const number = Number(/:(\d+)$/.exec(source)?.[1] ?? 0);
  return isCuda ? number : (other ? f.other_line : f.line) ?? 0;
}

export function shown(answer: Answer, isCuda: boolean, go: Goto): Node[] {
  const out: Node[] = [];
  if (answer.error !== undefined) out.push(make("pre", { class: "bad", tabindex: "0" }, answer.error));
  for (const part of answer.runs ?? []) out.push(...run(part, isCuda, go));
  if (answer.tests !== undefined) out.push(...graded(answer.tests, answer.score ?? 0, answer.total ?? 0));
  if (answer.printed) out.push(make("h3", {}, "Printed"), make("pre", { tabindex: "0" }, answer.printed));
  return out;
}

function run(part: RunPart, isCuda: boolean, go: Goto): Node[] {
  const good = part.verdict === "ok";
  const out: Node[] = [
    make("h3", {}, make("span", { class: good ? "good" : "bad" }, part.verdict), ` ${part.what}`),
    good ? make("p", {}, part.said) : make("pre", { class: "bad", tabindex: "0" }, part.said),
  ];
  for (const f of part.findings) out.push(finding(f, isCuda, go));
  const rows = [...part.arrays].sort((a, b) => Number(b.changed) - Number(a.changed));
  if (rows.length) {
    const table = make("table", { class: "arrays" }, make("caption", {}, "Arrays after the run"));
    const head = make("tr");
    for (const h of ["array", "values"]) head.append(make("th", { scope: "col" }, h));
    table.append(make("thead", {}, head));
    const body = make("tbody");
    for (const a of rows) {
      const what = make("th", { scope: "row" }, a.name, make("small", {}, ` ${a.type}[${a.shape.join(", ")}]`));
      body.append(make("tr", a.changed ? { class: "changed" } : {}, what, make("td", {}, a.values)));
    }
    table.append(body);
    out.push(make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Arrays" }, table));
  }
  return out;
}

function finding(f: Finding, isCuda: boolean, go: Goto): HTMLElement {
  const box = make("article", { class: "finding" }, make("h4", {}, `${f.kind} (${f.tool})`), make("p", {}, f.message));
  for (const other of [false, true]) {
    const line = lineOf(f, isCuda, other);
    const instruction = other ? f.other_instruction : f.instruction;
    if (!line) continue;
    const link = make("button", { type: "button", class: "line" }, `line ${line}`);
    link.addEventListener("click", () => go(line));
    box.append(make("p", {}, link, " ", make("code", {}, instruction)));
  }
  if (f.block && f.thread) box.append(make("p", { class: "soft" }, `block (${f.block.join(", ")}), thread (${f.thread.join(", ")})${f.count > 1 ? `, ${f.count} times` : ""}`));
  if (f.help) box.append(make("p", {}, make("strong", {}, "help: "), f.help));
  return box;
}

function graded(tests: TestResult[], score: number, total: number): Node[] {
  const out: Node[] = [make("h3", { id: "score" }, make("span", { class: score === total ? "good" : "bad" }, `${score} of ${total} points`))];
  for (const t of tests) {
    const box = make("article", { class: t.passed ? "test passed" : "test" }, make("h4", {}, `${t.passed ? "passed" : "failed"}: ${t.name} (${t.earned}/${t.points})`));
    if (t.said) box.append(make("pre", { tabindex: "0" }, t.said));
    out.push(box);
  }
  return out;
}
