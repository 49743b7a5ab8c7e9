import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { removeStaleBuilds } from "../../scripts/lib/remove-stale-builds.mjs";
import { temporaryDirectory } from "../helpers/temp.js";

test("a build removes what dead ones left, and nothing else", () => {
  const root = temporaryDirectory();
  const { pid: dead } = spawnSync("true");
  const stale = [`dist.${dead}.tmp`, `dist.${dead}.old.tmp`];
  const kept = ["dist", "dist.x.tmp", `dist.${process.pid}.old.tmp`, `dist.${process.pid}.tmp`];
  for (const name of [...stale, ...kept]) {
    fs.mkdirSync(path.join(root, name));
    fs.writeFileSync(path.join(root, name, "bin.cjs"), "");
  }
  removeStaleBuilds(root);
  expect(new Set(fs.readdirSync(root))).toEqual(new Set(kept));
});
