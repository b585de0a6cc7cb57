// The lines that most of a launch's warp instructions come from, marked in the file.
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { call } from "./locate";

interface Counted { line: number; warps: number; sectors: number }
interface Row { line: number; warps: number; source?: [string, number]; accesses?: { space: string; sectors: number }[] }

const LEVELS = 4;
const levels = Array.from({ length: LEVELS }, (_, n) => vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: `rgba(220, 90, 30, ${0.05 + 0.07 * n})`,
  overviewRulerColor: `rgba(220, 90, 30, ${0.3 + 0.2 * n})`,
  overviewRulerLane: vscode.OverviewRulerLane.Right,
  after: { margin: "0 0 0 3em", color: new vscode.ThemeColor("editorCodeLens.foreground") },
}));

/** The counts of each line of the file itself, from 0: of CUDA C++ those of its .loc. */
function byLine(profiles: { instructions: Row[] }[], file: string): Map<number, Counted> {
  const out = new Map<number, Counted>();
  for (const row of profiles.flatMap((p) => p.instructions)) {
    const own = row.source !== undefined && basename(row.source[0]) === basename(file);
    const line = (file.endsWith(".cu") ? (own && row.source !== undefined ? row.source[1] : 0) : row.line) - 1;
    if (line < 0) continue;
    const counted = out.get(line) ?? { line, warps: 0, sectors: 0 };
    counted.warps += row.warps;
    for (const a of row.accesses ?? []) if (a.space === "global") counted.sectors += a.sectors;
    out.set(line, counted);
  }
  return out;
}

/** Profiles a file as its comments say, and marks its lines. */
export async function profile(command: string, editor: vscode.TextEditor): Promise<void> {
  const file = editor.document.uri.fsPath;
  const ended = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: `warplab profiles ${basename(file)}` }, () => call(command, ["profile", "--json", file], dirname(file)),
  );
  let profiles: unknown;
  try {
    profiles = JSON.parse(ended.out);
  } catch {
    profiles = undefined;
  }
  if (!Array.isArray(profiles)) {
    void vscode.window.showErrorMessage(ended.err.trim() || "there is no profile");
    return;
  }
  const counted = byLine(profiles, file);
  const total = [...counted.values()].reduce((sum, c) => sum + c.warps, 0);
  const most = Math.max(...[...counted.values()].map((c) => c.warps), 1);
  const marks: vscode.DecorationOptions[][] = levels.map(() => []);
  for (const c of counted.values()) {
    if (c.line >= editor.document.lineCount || !c.warps) continue;
    const text = `${c.warps} warp instructions, ${(100 * c.warps / total).toFixed(0)} %${c.sectors ? `; ${c.sectors} sectors of global memory` : ""}`;
    marks[Math.min(LEVELS - 1, Math.floor(LEVELS * c.warps / (most + 1)))]?.push({
      range: editor.document.lineAt(c.line).range, renderOptions: { after: { contentText: text } },
    });
  }
  levels.forEach((level, n) => editor.setDecorations(level, marks[n] ?? []));
}

export function clear(): void {
  for (const editor of vscode.window.visibleTextEditors) for (const level of levels) editor.setDecorations(level, []);
}
