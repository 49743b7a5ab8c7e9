/**
 * Node's own modules as they are, for a CommonJS bundle. esbuild's wrapping copies all exports of a module for every file
 * that imports it, which is a tenth of the start of a short command.
 * @returns {import("esbuild").Plugin}
 */
export function plainBuiltins() {
  return {
    name: "plain-builtins",
    setup(builder) {
      builder.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
        kind === "import-statement" ? { path, namespace: "builtin" } : undefined,
      );
      builder.onLoad({ filter: /./, namespace: "builtin" }, async ({ path: name }) => {
        const names = Object.keys(await import(name)).filter(
          (key) => key !== "default" && key !== "module.exports",
        );
        const exported = names.map((key) => `export const ${key} = /* @__PURE__ */ (() => module.${key})();`);
        return {
          contents: [
            `const module = require(${JSON.stringify(name)});`,
            "export default module;",
            ...exported,
          ].join("\n"),
        };
      });
    },
  };
}
