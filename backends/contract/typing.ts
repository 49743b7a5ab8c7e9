import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { waitUntil } from "../../src/util/wait.js";
import type { SubmitOutcome } from "../types.js";
import { type Checks, patienceMs, scout, type Trial } from "./trial.js";
import { typedPrograms } from "./typed-programs.js";

/** Text that is typed, and what becomes of it. */
export const typing: Checks = {
  async "gives a program that asked for pastes every text as it is, once"(trial) {
    const { start, submit, taken, file } = terminalOf(trial);
    await start(typedPrograms.box(file), /ready/);
    for (const text of awkward) submitted(await submit(text));
    assert.deepEqual(texts(await taken(awkward.length)), awkward);
  },

  async "lets nothing in a text act as a key or end the paste, of those that come at once either"(trial) {
    const { start, submit, taken, file } = terminalOf(trial);
    await start(typedPrograms.box(file), /ready/);
    const hostile = "a\u001b[201~\rINJECTED\u0003\u0004\u0015\u007f\u009b201~\u0000b\r\nc\n\n";
    const others = ["number 1\nof two", "number 2\nof two"];
    const outcomes = await Promise.all([hostile, ...others].map((text) => submit(text)));
    for (const outcome of outcomes) submitted(outcome);
    assert.deepEqual(texts(await taken(3)), ["a[201~\nINJECTED201~b\nc", ...others]);
  },

  async "waits for a program that is busy, and lets one that waits for its turn be given up at once"(trial) {
    const { start, submit, taken, lines, file } = terminalOf(trial);
    await start(typedPrograms.box(file, { busyMs: 2000 }), /ready/);
    const giveUp = new AbortController();
    const reason = new Error("enough");
    const first = submit("first");
    const givenUp = assert.rejects(submit("given up", giveUp.signal), reason);
    const last = submit("last");
    giveUp.abort(reason);
    await givenUp;
    assert.deepEqual(lines(), []);
    for (const outcome of await Promise.all([first, last])) submitted(outcome);
    assert.deepEqual(texts(await taken(2)), ["first", "last"]);
  },

  "types to a program that reads by lines (cat)": typesByLines("cat"),
  "types to a program that reads by lines (lines)": typesByLines("lines"),

  async "types to a shell and to an interpreter"(trial) {
    const { start, submit, taken, file } = terminalOf(trial);
    await start(typedPrograms.shell, /[$#]/);
    submitted(await submit(`echo "shell $((40 + 2))" >>'${file}'`));
    await taken(1);
    await trial.executor.kill(scout);
    await start(typedPrograms.python, />>>/);
    submitted(await submit(`print("python", 6 * 7, file=open('${file}', "a"), flush=True)`));
    assert.deepEqual(await taken(2), ["shell 42", "python 42"]);
  },

  async "presses Enter once more where the first changed nothing, and not a third time"(trial) {
    const { start, submit, taken, lines, file } = terminalOf(trial);
    await start(typedPrograms.box(file, { deaf: 3 }), /ready/);
    const outcome = await submit("deaf ");
    assert.match(outcome.outcome === "unknown" ? outcome.reason : "submitted", /no answer to Enter/);
    assert.deepEqual(lines(), []);
    submitted(await submit("again"));
    assert.deepEqual(texts(await taken(1)), ["deaf again"]);
  },

  async "types nothing where it cannot or must not"(trial) {
    const { start, submit, lines, file } = terminalOf(trial);
    await assert.rejects(submit("x"), { code: "not-running" });
    await start(typedPrograms.box(file), /ready/);
    await assert.rejects(submit(" \n\u001b\n "), { code: "nothing-to-type" });
    await assert.rejects(submit("x".repeat(5_000_000)), { code: "text-too-long" });
    const reason = new Error("enough");
    await assert.rejects(submit("x", AbortSignal.abort(reason)), reason);
    await trial.executor.kill(scout);
    await assert.rejects(submit("x"), { code: "not-running" });
    assert.deepEqual(lines(), []);
  },
};

/** 200 KB, more than any buffer on the way takes, of numbered lines with characters of all widths. */
const long = Array.from({ length: 16_384 }, (_, index) => `${index}`.padEnd(60, "äé日").slice(0, 50))
  .join("\n")
  .slice(0, 200_000);

const awkward = [
  "!touch x",
  "/help",
  "#{pid} $(id) `id` %d; x;",
  "two\nlines\tand a tab, 👍🏽 👨‍👩‍👧 日本語 e\u0301 n\u0303\u0323",
  "-n",
  "ends in \\",
  long,
];

function typesByLines(program: "cat" | "lines") {
  return async (trial: Trial): Promise<void> => {
    const { start, submit, taken, file } = terminalOf(trial);
    await start(typedPrograms[program](file));
    submitted(await submit("one line, ends in \\ "));
    submitted(await submit("two\n  more"));
    assert.deepEqual(await taken(3), ["one line, ends in \\ ", "two", "  more"]);
  };
}

/** The terminal of {@link scout}, whose program writes into `file` what it takes. */
function terminalOf({ dir, executor, started }: Trial) {
  const file = path.join(dir, "taken");
  const lines = () => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").slice(0, -1) : []);
  return {
    file,
    lines,
    /** Starts a program, and waits until it shows that it is ready. */
    async start(argv: readonly string[], ready?: RegExp): Promise<void> {
      await started({ launch: { kind: "argv", argv, terminal: true } });
      if (ready === undefined) return;
      const isReady = async () => ready.test((await executor.capture?.(scout, 20)) ?? "");
      await waitUntil(`${ready} on the terminal`, isReady, { timeoutMs: patienceMs, everyMs: 50 });
    },
    async submit(text: string, signal?: AbortSignal): Promise<SubmitOutcome> {
      assert.ok(executor.submitText, "it does not offer submitText");
      return executor.submitText(scout, text, signal);
    },
    /** The lines taken, once there are so many. */
    async taken(count: number): Promise<string[]> {
      await waitUntil(`${count} lines`, () => lines().length >= count, { timeoutMs: patienceMs });
      return lines();
    },
  };
}

function submitted(outcome: SubmitOutcome): void {
  assert.deepEqual(outcome, { outcome: "submitted" });
}

/** What the lines of a program say that writes each text in hex. */
function texts(lines: readonly string[]): string[] {
  return lines.map((hex) => Buffer.from(hex, "hex").toString());
}
