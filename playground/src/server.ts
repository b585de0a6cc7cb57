// Questions to the server, and what it answers.

export interface Fix { title: string; changes: { start: number; end: number; text: string }[] }
export interface Diagnostic { from: number; to: number; line: number; severity: string; code: string; message: string; help: string; fixes: Fix[] }
export interface Finding {
  tool: string; kind: string; message: string; line: number | null; other_line: number | null; instruction: string; other_instruction: string;
  source: string; other_source: string; block: number[] | null; thread: number[] | null; help: string; severity: string; count: number;
}
export interface ArrayShown { name: string; type: string; shape: number[]; changed: boolean; values: string }
export interface RunPart { what: string; verdict: string; said: string; arrays: ArrayShown[]; findings: Finding[]; line: number }
export interface TestResult { name: string; points: number; earned: number; passed: boolean; said: string }
export interface Answer {
  error?: string; runs?: RunPart[]; printed?: string; page?: string; ptx?: string;
  tests?: TestResult[]; score?: number; total?: number;
}
export interface LabShown {
  title: string; readme: string; starters: { ptx?: string; cu?: string }; tests: { name: string; points: number }[]; hidden: number; files: string[];
}
export interface Start {
  examples: Record<string, string>; program: { name: string; text: string }; labs: LabShown[]; cuda: boolean;
  limits: { seconds: number; memory: number };
}

export async function ask<T>(what: string, question: object = {}): Promise<T> {
  const reply = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
  const text = await reply.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(text.trim() || `the server answers ${reply.status}`);
  }
}
