import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { waitUntil } from "../../../src/util/wait.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { executorOf, start, usersServer } from "./support.js";

/** A program that tells what it was started with. */
const teller = (file: string) =>
  `const fs = require("fs"); const {TROUPE_RUN_ID, TERM, PWD, ...env} = process.env;
   fs.writeFileSync(${JSON.stringify(`${file}.tmp`)}, JSON.stringify({argv: process.argv.slice(1), env, cwd: process.cwd()}));
   fs.renameSync(${JSON.stringify(`${file}.tmp`)}, ${JSON.stringify(file)}); setTimeout(() => {}, 300000)`;

describe("a program in a real pane", () => {
  it("gets its arguments, environment and directory byte for byte", { timeout: 180_000 }, async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer("set -g default-shell /bin/false\nset -g default-command false\n");
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    const piece = fc.constantFrom(
      "'",
      '"',
      "$",
      "$HOME",
      "`id`",
      "\\",
      "\n",
      "\t",
      ";",
      " ; ",
      "#{pid}",
      "#(touch pwned)",
      "#[bold]",
      "-",
      "--",
      "%1",
      "%%",
      "~",
      "{",
      "}",
      "*",
      "é",
      "😀",
      "e\u0301",
      "\u001b[201~",
      "\u0001",
      "\u007f",
      "\r",
      " ",
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
      fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\0", "")),
    );
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,12}$/).map((word) => `T_${word}`);
    const folder = text.map((value) => `d${value.replaceAll("/", "_").slice(0, 40)}`);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 30 }),
        fc.dictionary(name, text, { maxKeys: 20 }),
        folder,
        async (words, variables, below) => {
          const file = path.join(dir, `seen-${run++}.json`);
          const cwd = path.join(dir, `${run}`, below);
          fs.mkdirSync(cwd, { recursive: true });
          const env = { PATH: process.env["PATH"] ?? "", ...variables };
          const argv = [process.execPath, "-e", teller(file), "--", ...words];
          await start(executor, dir, "a", { launch: { kind: "argv", argv }, env, cwd });
          await waitUntil("the report", () => fs.existsSync(file), { timeoutMs: 30_000 });
          expect(JSON.parse(fs.readFileSync(file, "utf8"))).toEqual({ argv: words, env, cwd });
          await executor.kill("a@team");
        },
      ),
      {
        numRuns: 5,
        examples: [
          [
            ["", ";", "a;", "\\;", "-n", "--", "ends\n\n", "#{pane_id}", "x".repeat(131_071)],
            { T_: "\n" },
            "d;",
          ],
          [["x".repeat(100_000)], { T_big: "y".repeat(100_000), "T_odd.name": "'" }, "d #{pid} %d"],
        ],
      },
    );
    expect(fs.existsSync(path.join(dir, "pwned"))).toBe(false);
  });
});
