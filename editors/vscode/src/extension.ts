// Starts the language server and the debug adapter of warplab, and adds what stands above and beside a kernel.
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { clear, profile } from "./hot_lines";
import { Lenses } from "./lenses";
import { call, located, missing } from "./locate";
import { play } from "./player";

const FILES = [{ scheme: "file", language: "ptx" }, { scheme: "untitled", language: "ptx" }, { scheme: "file", pattern: "**/*.{cu,cuh}" }];
let client: LanguageClient | undefined;
let said = false; // what is missing is said once

async function start(context: vscode.ExtensionContext): Promise<void> {
  const command = await located();
  if (command === undefined) {
    if (!said) void missing("The command warplab was not found.");
    said = true;
    return;
  }
  const log = context.extension.id;
  client = new LanguageClient("warplab", "warplab", { command, args: ["lsp"] }, { documentSelector: FILES, outputChannelName: log });
  try {
    await client.start();
  } catch {
    client = undefined;
    const ended = await call(command, ["lsp", "--help"], process.cwd());
    void missing(ended.code === 0 ? "warplab lsp does not start: the extra `editor` may be missing." : `${command} does not run.`);
  }
}

/** The file that a command is about, saved, and the command warplab. */
async function about(uri: vscode.Uri | undefined): Promise<{ command: string; file: string } | undefined> {
  const document = uri === undefined ? vscode.window.activeTextEditor?.document : await vscode.workspace.openTextDocument(uri);
  if (document === undefined || document.uri.scheme !== "file") return undefined;
  if (document.isDirty) await document.save();
  const command = await located();
  if (command === undefined) {
    await missing("The command warplab was not found.");
    return undefined;
  }
  return { command, file: document.uri.fsPath };
}

class Adapters implements vscode.DebugAdapterDescriptorFactory, vscode.DebugConfigurationProvider {
  async createDebugAdapterDescriptor(): Promise<vscode.DebugAdapterDescriptor | undefined> {
    const command = await located();
    if (command === undefined) {
      await missing("The command warplab was not found.");
      return undefined;
    }
    return new vscode.DebugAdapterExecutable(command, ["dap"]);
  }

  resolveDebugConfiguration(folder: vscode.WorkspaceFolder | undefined, given: vscode.DebugConfiguration): vscode.DebugConfiguration {
    const document = vscode.window.activeTextEditor?.document;
    if (!given.type && document !== undefined) return { type: "warplab", request: "launch", name: "Debug this kernel", program: document.uri.fsPath };
    return { cwd: folder?.uri.fsPath, ...given };
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const adapters = new Adapters();
  context.subscriptions.push(
    vscode.languages.registerCodeLensProvider(FILES, new Lenses()),
    vscode.debug.registerDebugAdapterDescriptorFactory("warplab", adapters),
    vscode.debug.registerDebugConfigurationProvider("warplab", adapters),
    vscode.commands.registerCommand("warplab.debugFile", async (uri?: vscode.Uri) => {
      const found = await about(uri);
      if (found === undefined) return;
      await vscode.debug.startDebugging(undefined, { type: "warplab", request: "launch", name: "Debug this kernel", program: found.file });
    }),
    vscode.commands.registerCommand("warplab.recordFile", async (uri?: vscode.Uri) => {
      const found = await about(uri);
      if (found !== undefined) await play(found.command, found.file);
    }),
    vscode.commands.registerCommand("warplab.profileFile", async (uri?: vscode.Uri) => {
      const found = await about(uri);
      const editor = vscode.window.visibleTextEditors.find((e) => e.document.uri.fsPath === found?.file);
      if (found !== undefined && editor !== undefined) await profile(found.command, editor);
    }),
    vscode.commands.registerCommand("warplab.clearProfile", clear),
    vscode.commands.registerCommand("warplab.restart", async () => {
      await client?.stop();
      said = false;
      await start(context);
    }),
    vscode.workspace.onDidChangeTextDocument((e) => { if (e.contentChanges.length) clear(); }),
    vscode.workspace.onDidChangeConfiguration((e) => { if (e.affectsConfiguration("warplab.path")) void vscode.commands.executeCommand("warplab.restart"); }),
  );
  await start(context);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
