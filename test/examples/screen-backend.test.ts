import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { executorContract } from "../../backends/contract/index.js";
import { builtCommand } from "../helpers/built.js";

const root = path.resolve(import.meta.dirname, "../..");
const place = path.join(root, "examples/screen-backend");
const files = fs.readdirSync(place).filter((name) => name.endsWith(".test.mjs"));

beforeAll(async () => void (await builtCommand()), 240_000);

// As its author runs it: with Node's own test runner, against the package by its name.
test("the example of a backend, for GNU screen, keeps the contract", { timeout: 180_000 }, () => {
  const args = ["--test", "--test-reporter=tap", ...files.map((name) => path.join(place, name))];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 170_000,
  });
  const names = [...stdout.matchAll(/^ *ok \d+ - (.*)$/gm)].map(([, name]) => name);
  const promises = executorContract(() => Promise.reject(new Error("not run here"))).map(({ name }) => name);
  expect(names, stdout + stderr).toEqual(expect.arrayContaining(promises));
  expect({ status, stderr, count: files.length }, stdout).toEqual({ status: 0, stderr: "", count: 2 });
});
