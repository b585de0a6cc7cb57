// Builds ../runtime/player/player.js from src/: `npm ci && npm run build`.  Its first line names the digest of the sources, which a test compares.
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
  loader: { ".css": "text" },
  banner: { js: `// warplab's player, built by player/build.mjs from sources with sha256 ${digest.digest("hex")}` },
  outfile: process.argv[2] ?? "../runtime/player/player.js",
});
