// Builds dist/: a small CommonJS command, the ES modules it reaches lazily, and type declarations.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { thirdPartyLicenses } from "./lib/licenses.mjs";
import { plainBuiltins } from "./lib/plain-builtins.mjs";

const root = path.resolve(import.meta.dirname, "..");
const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));

const command = "src/bin.ts";
/** Name in dist (without `.js`) to entry file. */
const modules = {
  "cli/main": "src/cli/main.ts",
  "cli/own-commands": "src/cli/own-commands.ts",
  index: "src/index.ts",
  mailbox: "mailbox/index.ts",
  backends: "backends/index.ts",
  "backends-contract": "backends/contract/index.ts",
};

const missing = [command, ...Object.values(modules)].filter((file) => !fs.existsSync(path.join(root, file)));
if (missing.length > 0) {
  console.error(`build: missing entry ${missing.join(", ")}`);
  process.exit(1);
}

// Built beside and then put in place, so that a build that fails, or programs that run meanwhile, keep the old one.
const staging = `dist.${process.pid}.tmp`;
process.on("exit", () => fs.rmSync(path.join(root, staging), { recursive: true, force: true }));

/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  define: { __TROUPE_VERSION__: JSON.stringify(version) },
  metafile: true,
  logLevel: "warning",
  legalComments: "none",
};

try {
  const results = await Promise.all([
    build({
      ...common,
      entryPoints: [command],
      outfile: `${staging}/bin.cjs`,
      format: "cjs",
      banner: { js: "#!/usr/bin/env node" },
      plugins: [plainBuiltins(), lazyModules()],
    }),
    build({
      ...common,
      entryPoints: modules,
      outdir: staging,
      format: "esm",
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      // Native binaries: they stay packages of their own.
      external: ["node-pty", "@vscode/ripgrep"],
      // Its CommonJS build, which Node is offered, would hide the named exports from a lazy import().
      alias: { yaml: path.join(root, "node_modules/yaml/browser/index.js") },
      // CommonJS libraries inside call require() for Node's own modules.
      banner: {
        js: 'import { createRequire as troupeRequire } from "node:module";\nconst require = troupeRequire(import.meta.url);',
      },
    }),
  ]);
  fs.chmodSync(path.join(root, staging, "bin.cjs"), 0o755);
  fs.writeFileSync(
    path.join(root, staging, "THIRD-PARTY-LICENSES.txt"),
    thirdPartyLicenses(
      root,
      results.flatMap((result) => Object.keys(result.metafile.inputs)),
    ),
  );
} catch {
  // esbuild has printed what is wrong.
  process.exit(1);
}

const { status } = spawnSync(
  process.execPath,
  [
    path.join(root, "node_modules/typescript/bin/tsc"),
    ...["-p", "tsconfig.types.json", "--outDir", `${staging}/types`],
  ],
  { cwd: root, stdio: "inherit" },
);
if (status !== 0) process.exit(1);

const old = `dist.${process.pid}.old.tmp`;
if (fs.existsSync(path.join(root, "dist"))) fs.renameSync(path.join(root, "dist"), path.join(root, old));
fs.renameSync(path.join(root, staging), path.join(root, "dist"));
fs.rmSync(path.join(root, old), { recursive: true, force: true });

/**
 * In the command, `import()` of a file of ours stays an import of the ES module that is built from it, so that
 * nothing heavy gets into the command's own file.
 * @returns {import("esbuild").Plugin}
 */
function lazyModules() {
  return {
    name: "lazy-modules",
    setup(builder) {
      builder.onResolve({ filter: /^\./ }, (request) => {
        if (request.kind !== "dynamic-import") return undefined;
        const source = path
          .relative(root, path.resolve(request.resolveDir, request.path))
          .replace(/\.js$/, ".ts");
        const entry = Object.entries(modules).find(([, file]) => file === source.split(path.sep).join("/"));
        if (entry === undefined)
          return {
            errors: [
              { text: `${command} may import() only ${Object.values(modules).join(", ")}, not ${source}` },
            ],
          };
        return { path: `./${entry[0]}.js`, external: true };
      });
    },
  };
}
