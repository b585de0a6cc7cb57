// Prints the tokens that VS Code's own reader of grammars finds in files: for each file a list of [line, from, to, scope].
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({ createOnigScanner: (p) => new oniguruma.OnigScanner(p), createOnigString: (s) => new oniguruma.OnigString(s) }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(new URL("../syntaxes/ptx.tmLanguage.json", import.meta.url), "utf-8"), "ptx.json"),
});
const grammar = await registry.loadGrammar("source.ptx");
const out = {};
for (const path of process.argv.slice(2)) {
  let state = textmate.INITIAL;
  out[path] = [];
  readFileSync(path, "utf-8").split("\n").forEach((line, n) => {
    const found = grammar.tokenizeLine(line, state);
    state = found.ruleStack;
    for (const t of found.tokens) if (t.scopes.length > 1) out[path].push([n, t.startIndex, t.endIndex, t.scopes.at(-1)]);
  });
}
console.log(JSON.stringify(out));
