// What stands above a //@ run comment beside the server's "run" and "sanitize".
import * as vscode from "vscode";

export class Lenses implements vscode.CodeLensProvider {
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const out: vscode.CodeLens[] = [];
    for (let n = 0; n < document.lineCount; n++) {
      const line = document.lineAt(n);
      if (!/^\s*\/\/@ run\b/.test(line.text)) continue;
      for (const [title, command] of [["debug", "warplab.debugFile"], ["record", "warplab.recordFile"], ["profile", "warplab.profileFile"]] as const) {
        out.push(new vscode.CodeLens(line.range, { title, command, arguments: [document.uri] }));
      }
    }
    return out;
  }
}
