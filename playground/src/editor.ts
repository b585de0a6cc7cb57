// The editor: diagnostics with fixes as one types, completion, and what stands under the pointer.
import { autocompletion, closeBrackets, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { type Action, type Diagnostic as Mark, lintGutter, lintKeymap, linter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { colours, cuda, ptx } from "./language";
import { rendered } from "./markdown";
import { ask, type Diagnostic } from "./server";

export type Language = "ptx" | "cu";
const DELAY = 60; // milliseconds between a keystroke and the question

const marked = StateEffect.define<{ line: number; kind: string }[]>();
const lines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(old, change) {
    let out = change.docChanged ? Decoration.none : old;
    for (const e of change.effects) {
      if (!e.is(marked)) continue;
      const found = e.value.filter((m) => m.line >= 1 && m.line <= change.state.doc.lines).sort((a, b) => a.line - b.line);
      out = Decoration.set(found.map((m) => Decoration.line({ class: `line-${m.kind}` }).range(change.state.doc.line(m.line).from)));
    }
    return out;
  },
  provide: (f) => EditorView.decorations.from(f),
});

const KINDS: Record<string, string> = { opcode: "keyword", word: "enum", register: "variable", special: "constant", label: "text", function: "function", directive: "keyword", type: "type" };

export class Editor {
  readonly view: EditorView;
  language: Language = "ptx";
  private readonly syntax = new Compartment();

  constructor(parent: HTMLElement, label: string, private readonly changed: () => void, readOnly = false) {
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(), history(), drawSelection(), bracketMatching(), highlightActiveLine(), lines, colours, indentUnit.of("    "),
          this.syntax.of(ptx), EditorState.readOnly.of(readOnly), EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          EditorView.lineWrapping,
          ...(readOnly ? [] : [
            closeBrackets(), lintGutter(), autocompletion({ override: [(c) => this.complete(c)] }), hoverTooltip((_, at) => this.hover(at)),
            linter((v) => this.check(v), { delay: DELAY }),
          ]),
          keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          EditorView.updateListener.of((u) => { if (u.docChanged) this.changed(); }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  show(text: string, language: Language): void {
    this.language = language;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, effects: this.syntax.reconfigure(language === "ptx" ? ptx : cuda) });
    this.view.dispatch(setDiagnostics(this.view.state, []));
  }

  /** Colours lines, until the text changes. */
  mark(found: { line: number; kind: string }[]): void {
    this.view.dispatch({ effects: marked.of(found) });
  }

  goto(line: number): void {
    const at = this.view.state.doc.line(Math.max(1, Math.min(line, this.view.state.doc.lines))).from;
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }

  private async check(view: EditorView): Promise<Mark[]> {
    if (this.language !== "ptx") return [];
    const text = view.state.doc.toString();
    const begun = performance.now();
    const found = (await ask<{ diagnostics?: Diagnostic[] }>("check", { text })).diagnostics ?? [];
    document.body.dataset["checked"] = String(Math.round(performance.now() - begun + DELAY));
    const size = view.state.doc.length;
    return found.map((d) => ({
      from: Math.min(d.from, size), to: Math.min(d.to, size), severity: d.severity === "error" ? "error" : d.severity === "warning" ? "warning" : "info",
      source: d.code, message: d.message + (d.help ? `\nhelp: ${d.help}` : ""),
      actions: d.fixes.map((f): Action => ({
        name: f.title, apply: (v) => v.dispatch({ changes: f.changes.map((c) => ({ from: c.start, to: c.end, insert: c.text })) }),
      })),
    }));
  }

  private async complete(context: CompletionContext): Promise<CompletionResult | null> {
    if (this.language !== "ptx") return null;
    const before = context.matchBefore(/[\w.%$@[]+/);
    if (!context.explicit && before === null) return null;
    const found = await ask<{ from?: number; options?: { label: string; kind: string; detail: string; rank: number }[] }>(
      "complete", { text: context.state.doc.toString(), offset: context.pos },
    );
    if (!found.options?.length || found.from === undefined) return null;
    return {
      from: found.from, validFor: /^[\w$%.]*$/,
      options: found.options.map((o) => ({
        label: o.label, detail: o.detail, type: KINDS[o.kind] ?? "text", boost: -Math.min(o.rank, 90),
        ...(o.kind === "opcode" ? { info: async () => {
          const told = await ask<{ markdown?: string }>("opcode", { text: o.label });
          const dom = document.createElement("div");
          dom.append(rendered(told.markdown ?? ""));
          return dom;
        } } : {}),
      })),
    };
  }

  private async hover(at: number): Promise<{ pos: number; end: number; create: () => { dom: HTMLElement } } | null> {
    if (this.language !== "ptx") return null;
    const found = await ask<{ from?: number; to?: number; markdown?: string }>("hover", { text: this.text, offset: at });
    if (found.from === undefined || found.to === undefined) return null;
    return {
      pos: found.from, end: found.to,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "told";
        dom.append(rendered(found.markdown ?? ""));
        return { dom };
      },
    };
  }
}
