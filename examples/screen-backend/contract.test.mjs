// @ts-check
// node --test examples/screen-backend/contract.test.mjs

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { executorContract } from "troupe/backends/contract";
import { createScreenExecutor } from "./screen-executor.mjs";

const cases = executorContract(({ dir, deliver }) => {
  const place = path.join(dir, "screen");
  // Patient with programs that are slow to fail on a busy machine, and not with those that are slow to end.
  const limits = { settleMs: 600, graceMs: 400 };
  const make = () => createScreenExecutor({ dir: place, env: process.env, deliver, ...limits });
  return { executor: make(), successor: make, places: () => windows(place) };
});

describe("the backend for GNU screen", { concurrency: 3 }, () => {
  for (const { name, run } of cases) test(name, { timeout: 60_000 }, run);
});

/** The titles of all windows but the one that keeps the session; and what else stands in the backend's directory. */
function windows(/** @type {string} */ place) {
  const sockets = path.join(place, "sockets");
  if (!fs.existsSync(sockets)) return [];
  const left = fs.readdirSync(place).filter((name) => !["sockets", "screenrc", "window.sh"].includes(name));
  if (fs.readdirSync(sockets).length === 0) return left;
  const env = { ...process.env, SCREENDIR: sockets };
  const text = execFileSync("screen", ["-S", "troupe", "-Q", "windows"], { env, encoding: "utf8" });
  return [...left, ...text.split("  ").filter((entry) => !/^\d+\S* _keeper$/.test(entry))];
}
