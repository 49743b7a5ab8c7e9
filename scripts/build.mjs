// Builds dist/: a small CommonJS command, the ES modules it reaches lazily, and type declarations. All commands are in
// one CommonJS file, too: reading forty modules takes longer than all that most commands do. The modules hold the full parser.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { thirdPartyLicenses } from "./lib/licenses.mjs";
import { plainBuiltins } from "./lib/plain-builtins.mjs";
import { removeStaleBuilds } from "./lib/remove-stale-builds.mjs";

const root = path.resolve(import.meta.dirname, "..");
const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));

const command = "src/bin.ts";
/** Name in dist (without `.js`) to entry file. */
const modules = {
  "cli/main": "src/cli/main.ts",
  index: "src/index.ts",
  mailbox: "mailbox/index.ts",
  backends: "backends/index.ts",
  "backends-contract": "backends/contract/index.ts",
};

/** The same for libraries that are loaded late, by the name that they are imported with. */
const libraries = {
  "vendor/anthropic-sdk": "@anthropic-ai/sdk",
  "vendor/anthropic-streaming": "@anthropic-ai/sdk/core/streaming",
  "vendor/execa": "execa",
  "vendor/protobufjs": "protobufjs/light.js",
  "vendor/ws": "ws",
};
const all = "src/cli/all-commands.ts";
const allPlace = "./commands.cjs";

const missing = [command, all, ...Object.values(modules)].filter(
  (file) => !fs.existsSync(path.join(root, file)),
);
if (missing.length > 0) {
  console.error(`build: missing entry ${missing.join(", ")}`);
  process.exit(1);
}

// Built beside and then put in place: until a build succeeds there is the old one as a whole. Afterwards nothing of that is
// left, so a host that began with it fails where it first needs a module that it has not loaded yet.
removeStaleBuilds(root);
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
  // Native binaries: they stay packages of their own.
  external: ["node-pty", "@vscode/ripgrep"],
  // Its CommonJS build, which Node is offered, would hide the named exports from a lazy import().
  alias: { yaml: path.join(root, "node_modules/yaml/browser/index.js") },
};

try {
  const results = await Promise.all([
    build({
      ...common,
      entryPoints: [command],
      outfile: `${staging}/bin.cjs`,
      format: "cjs",
      banner: { js: "#!/usr/bin/env node" },
      plugins: [plainBuiltins(), lazyModules({ other: "refused" })],
    }),
    build({
      ...common,
      entryPoints: [all],
      outfile: path.join(staging, allPlace),
      format: "cjs",
      minifyWhitespace: true,
      minifySyntax: true,
      plugins: [plainBuiltins(), lazyModules({ other: "inside" })],
    }),
    build({
      ...common,
      entryPoints: { ...modules, ...libraries },
      outdir: staging,
      format: "esm",
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
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
 * In a CommonJS file, `import()` of one of the modules and libraries above stays an import of what is built from it, so that
 * nothing heavy gets into the file itself. `other` files of ours are refused, or come inside and are run when they are imported.
 * @param {{ other: "refused" | "inside" }} options
 * @returns {import("esbuild").Plugin}
 */
function lazyModules({ other }) {
  const places = new Map([
    ...Object.entries({ ...modules, ...libraries }).map(([name, file]) => [file, `./${name}.js`]),
    [all, allPlace],
  ]);
  return {
    name: "lazy-modules",
    setup(builder) {
      const filter = new RegExp(`^(?:\\.|${Object.values(libraries).join("|")})`);
      builder.onResolve({ filter }, ({ kind, path: wanted, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const source = wanted.startsWith(".")
          ? path.relative(root, path.resolve(resolveDir, wanted)).replace(/\.js$/, ".ts")
          : wanted;
        const place = places.get(source.split(path.sep).join("/"));
        // What is CommonJS itself is required, for which Node need not look for its exports first.
        if (place === allPlace) return { path: place, namespace: "required" };
        if (place !== undefined) return { path: place, external: true };
        if (other === "inside") return undefined;
        const known = [...places.keys()].join(", ");
        return { errors: [{ text: `${command} may import() only ${known}, not ${source}` }] };
      });
      builder.onResolve({ filter: /./, namespace: "required" }, ({ path: place }) => ({
        path: place,
        external: true,
      }));
      builder.onLoad({ filter: /./, namespace: "required" }, ({ path: place }) => ({
        contents: `module.exports = require(${JSON.stringify(place)});`,
      }));
    },
  };
}
