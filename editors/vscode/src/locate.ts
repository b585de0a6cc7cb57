// Where the command warplab is: a setting, the selected Python environment, or the PATH.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import * as vscode from "vscode";

interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

const NAME = process.platform === "win32" ? "warplab.exe" : "warplab";

async function ofPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (extension === undefined) return undefined;
  try {
    const python = extension.isActive ? extension.exports : await extension.activate();
    const found = await python.environments.resolveEnvironment(python.environments.getActiveEnvironmentPath());
    const executable = found?.executable.uri?.fsPath;
    return executable === undefined ? undefined : join(dirname(executable), NAME);
  } catch {
    return undefined; // an extension of another version
  }
}

/** The command; undefined where there is none. */
export async function located(): Promise<string | undefined> {
  const set = vscode.workspace.getConfiguration("warplab").get<string>("path", "");
  if (set !== "") return set;
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, NAME));
  const inFolder = (vscode.workspace.workspaceFolders ?? []).map((f) => join(f.uri.fsPath, ".venv", "bin", NAME));
  return [await ofPython(), ...inFolder, ...onPath].find((path) => path !== undefined && existsSync(path));
}

/** Says what to install. */
export async function missing(why: string): Promise<void> {
  const install = "Copy the command", settings = "Open the setting";
  const chosen = await vscode.window.showErrorMessage(`${why} Install it with: pip install "warplab[editor]"`, install, settings);
  if (chosen === install) await vscode.env.clipboard.writeText('pip install "warplab[editor]"');
  else if (chosen === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "warplab.path");
}

export interface Ended { code: number; out: string; err: string }

/** Runs the command to its end. */
export function call(command: string, words: string[], folder: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(command, words, { cwd: folder, maxBuffer: 1 << 28, timeout: 300_000 }, (e, out, err) => {
      resolve({ code: e === null ? 0 : typeof e.code === "number" ? e.code : 70, out, err: err || (e !== null && !out ? e.message : "") });
    });
  });
}
