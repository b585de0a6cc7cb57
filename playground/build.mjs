// Builds ../runtime/play/play.js from src/: `npm ci && npm run build`.  Its first line names the digest of the sources, which a test compares.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const digest = createHash("sha256");
for (const name of readdirSync("src").sort()) {
  digest.update(`${name}\n`).update(readFileSync(`src/${name}`));
}
await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  banner: { js: `// warplab's playground, built by playground/build.mjs from sources with sha256 ${digest.digest("hex")}; with CodeMirror (MIT)` },
  outfile: process.argv[2] ?? "../runtime/play/play.js",
});
