// The page: a program, what it becomes, and what comes of it.
import { byId, make } from "./dom";
import { Editor, type Language } from "./editor";
import { packed, unpacked } from "./link";
import { rendered } from "./markdown";
import { pairs } from "./pairs";
import { lineOf, shown } from "./results";
import { type Answer, ask, type LabShown, type Start } from "./server";

const KERNEL = `// A kernel in CUDA C++; the comment below says how to launch it.
//@ run --grid 4 --block 256 --arg a=f32[1000]:arange --arg b=f32[1000]:ones --arg out:c=f32[1000] --arg n=1000 --expect "c == a + b"
__global__ void vecadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
`;
const WORDS: Record<string, string> = { run: "Running", sanitize: "Checking", record: "Recording", profile: "Profiling", grade: "Testing" };

class Page {
  private readonly editor = new Editor(byId("editor"), "Program", () => this.edited());
  private readonly compiled = new Editor(byId("compiled"), "PTX of the program", () => undefined, true);
  private readonly result = byId("result");
  private readonly status = byId("status");
  private readonly choice = byId<HTMLSelectElement>("choice");
  private start: Start | null = null;
  private lab = -1;
  private job = "";
  private count = 0;

  async open(): Promise<void> {
    for (const what of ["run", "sanitize", "record", "profile", "grade"]) byId(what).addEventListener("click", () => void this.carryOut(what));
    byId("stop").addEventListener("click", () => void ask("stop", { job: this.job }));
    byId("share").addEventListener("click", () => void this.share());
    this.choice.addEventListener("change", () => this.choose(this.choice.value));
    addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      e.stopPropagation();
      void this.carryOut(e.shiftKey ? "record" : this.lab >= 0 && e.altKey ? "grade" : "run");
    }, true);
    addEventListener("hashchange", () => void this.fromLink());
    const start = this.start = await ask<Start>("start");
    const group = (label: string, options: [string, string][]): void => {
      if (!options.length) return;
      const g = make("optgroup", { label });
      for (const [value, text] of options) g.append(make("option", { value }, text));
      this.choice.append(g);
    };
    if (start.program.name) group("File", [["file", start.program.name]]);
    group("Labs", start.labs.flatMap((lab, n): [string, string][] => (["ptx", "cu"] as const)
      .filter((s) => s === "ptx" || (start.cuda && lab.starters.cu !== undefined))
      .map((s) => [`lab ${n} ${s}`, s === "ptx" ? lab.title : `${lab.title} (CUDA C++)`])));
    group("Examples", [...Object.keys(start.examples).map((name): [string, string] => [`example ${name}`, name]), ...(start.cuda ? [["cuda", "vecadd in CUDA C++"] as [string, string]] : [])]);
    if (!(await this.fromLink())) this.choose(this.choice.value);
    document.body.dataset["ready"] = "";
  }

  private async fromLink(): Promise<boolean> {
    const found = await unpacked(location.hash).catch(() => null);
    if (found === null) return false;
    this.show(found.text, found.language as Language);
    return true;
  }

  private choose(value: string): void {
    const start = this.start;
    if (start === null) return;
    const [kind, name, suffix] = value.split(" ");
    if (kind === "file") this.show(start.program.text, start.program.name.endsWith(".cu") ? "cu" : "ptx");
    else if (kind === "lab") this.show(start.labs[Number(name)].starters[suffix as Language] ?? "", suffix as Language, Number(name));
    else if (kind === "cuda") this.show(KERNEL, "cu");
    else this.show(start.examples[name] ?? "", "ptx");
  }

  private show(text: string, language: Language, lab = -1): void {
    this.lab = lab;
    this.editor.show(text, language);
    this.compiled.show("", "ptx");
    byId("panes").dataset["language"] = language;
    byId("grade").hidden = lab < 0;
    const handout = byId("handout");
    handout.hidden = lab < 0;
    if (lab >= 0 && this.start !== null) handout.replaceChildren(...this.handout(this.start.labs[lab]));
    this.result.replaceChildren(make("p", { class: "soft" }, lab < 0 ? "Run it, check it, or record it to see every step." : "Edit the program, then press Test."));
  }

  private handout(lab: LabShown): Node[] {
    const tests = make("ul");
    for (const t of lab.tests) tests.append(make("li", {}, `${t.name}: ${t.points} points`));
    if (lab.hidden) tests.append(make("li", {}, `and ${lab.hidden} hidden test${lab.hidden > 1 ? "s" : ""}`));
    return [make("summary", {}, lab.title), rendered(lab.readme), make("h3", {}, "Tests"), tests];
  }

  private edited(): void {
    if (this.compiled.text) this.compiled.mark([]);
  }

  private async carryOut(what: string): Promise<void> {
    if (this.job) return;
    const job = this.job = `${Date.now()}-${++this.count}`;
    const begun = performance.now();
    document.body.dataset["busy"] = what;
    this.status.textContent = `${WORDS[what]} ...`;
    const isCuda = this.editor.language === "cu";
    let answer: Answer;
    try {
      answer = await ask<Answer>(what, { text: this.editor.text, language: this.editor.language, job, ...(this.lab >= 0 ? { lab: this.lab } : {}) });
    } catch (e) {
      answer = { error: `the server does not answer: ${e instanceof Error ? e.message : String(e)}` };
    }
    const seconds = (performance.now() - begun) / 1000;
    this.result.replaceChildren(...shown(answer, isCuda, (line) => this.editor.goto(line)));
    if (answer.page !== undefined) {
      const frame = make("iframe", { src: `page/${answer.page}`, title: what === "profile" ? "Profile" : "Player", sandbox: "allow-scripts" });
      this.result.prepend(frame);
    }
    if (answer.ptx !== undefined && answer.ptx !== this.compiled.text) this.compiled.show(answer.ptx, "ptx");
    const found = (answer.runs ?? []).flatMap((r) => r.findings);
    const tints = answer.ptx === undefined ? { source: [], ptx: [] } : pairs(answer.ptx, "program.cu");
    const bad = found.flatMap((f) => [lineOf(f, isCuda), lineOf(f, isCuda, true)]).filter(Boolean).map((line) => ({ line, kind: "bad" }));
    this.editor.mark([...tints.source, ...bad]);
    this.compiled.mark(tints.ptx);
    const word = answer.error !== undefined ? "ended with an error" : answer.tests !== undefined ? `${answer.score} of ${answer.total} points`
      : (answer.runs ?? []).every((r) => r.verdict === "ok") ? "ok" : "failed";
    this.status.textContent = `${word}, ${seconds.toFixed(2)} s`;
    delete document.body.dataset["busy"];
    this.job = "";
  }

  private async share(): Promise<void> {
    history.replaceState(null, "", await packed({ text: this.editor.text, language: this.editor.language }));
    const link = location.hash;
    await navigator.clipboard?.writeText(location.href).catch(() => undefined);
    this.status.textContent = `The address has the program now (${link.length} characters), and is copied.`;
  }
}

void new Page().open().catch((e: unknown) => {
  byId("status").textContent = `the server does not answer: ${e instanceof Error ? e.message : String(e)}`;
});
