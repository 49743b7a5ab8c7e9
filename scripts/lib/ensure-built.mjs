import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** Builds dist/ where it is missing or older than a source; gives the path of the command. */
export function ensureBuilt() {
  const command = path.join(root, "dist/bin.cjs");
  const built = fs.statSync(command, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ["src", "mailbox", "backends", "scripts/build.mjs", "package.json"].flatMap(filesBelow);
  if (sources.some((file) => fs.statSync(file).mtimeMs > built)) {
    const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
    if (status !== 0) throw new Error("the build failed");
  }
  return command;
}

/** @param {string} name */
function filesBelow(name) {
  const place = path.join(root, name);
  if (!fs.statSync(place).isDirectory()) return [place];
  return fs
    .readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
