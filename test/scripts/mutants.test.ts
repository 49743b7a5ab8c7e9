import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { mutants } from "../../scripts/lib/mutant-list.mjs";

const root = path.join(import.meta.dirname, "../..");

test("each mutant stands in its file exactly once, and its tests exist", () => {
  const read = (file: string) => fs.readFileSync(path.join(root, file), "utf8");
  const unfit = mutants.filter(
    ({ file, find, tests }) =>
      read(file).split(find).length !== 2 || !tests.every((test) => fs.existsSync(path.join(root, test))),
  );
  expect(unfit).toEqual([]);
  expect(mutants.length).toBeGreaterThan(30);
});
