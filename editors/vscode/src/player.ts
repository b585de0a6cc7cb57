// The player as a panel beside the file.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { call } from "./locate";

const panels = new Map<string, vscode.WebviewPanel>();

/** Records a file as its comments say, and plays it. */
export async function play(command: string, file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "warplab-"));
  const page = join(folder, "page.html");
  try {
    const ended = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: `warplab records ${basename(file)}` }, () => call(command, ["record", "--html", page, file], dirname(file)),
    );
    const html = await readFile(page, "utf-8").catch(() => undefined);
    if (html === undefined) {
      void vscode.window.showErrorMessage(ended.err.trim() || "nothing was recorded");
      return;
    }
    let panel = panels.get(file);
    if (panel === undefined) {
      panel = vscode.window.createWebviewPanel("warplab.player", `Player: ${basename(file)}`, vscode.ViewColumn.Beside, { enableScripts: true, retainContextWhenHidden: true });
      panels.set(file, panel);
      panel.onDidDispose(() => panels.delete(file));
    }
    panel.webview.html = html;
    panel.reveal(undefined, true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
