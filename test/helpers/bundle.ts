import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { buildSync } from "esbuild";

let directory: string | undefined;

/**
 * Bundles a TypeScript file into one `.mjs`, so that a plain `node` can run it, and gives its path. Built once per test
 * process, removed when that ends. Native packages stay outside and cannot be imported.
 */
export function bundleScript(entry: string): string {
  directory ??= makeDirectory();
  const name = createHash("sha256").update(path.resolve(entry)).digest("hex").slice(0, 12);
  const outfile = path.join(directory, `${path.basename(entry, ".ts")}-${name}.mjs`);
  if (fs.existsSync(outfile)) return outfile;
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["node-pty", "@vscode/ripgrep"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

function makeDirectory(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-bundle-"));
  process.on("exit", () => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}
