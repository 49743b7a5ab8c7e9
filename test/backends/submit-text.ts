import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TeammateExecutor } from "../../backends/types.js";
import { teammateConfig } from "../helpers/teammate.js";
import { until } from "../helpers/until.js";
import { typedPrograms } from "./typed-programs.js";

// Whole programs, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

/** An executor that types, and the way to end what it needs. */
export interface TypingHarness {
  readonly executor: TeammateExecutor;
  dispose(): Promise<void>;
}

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

/** The promises of `submitText`, for every executor that offers it. */
export function runSubmitContract(name: string, makeHarness: (dir: string) => TypingHarness): void {
  describe(`typing to a program: ${name}`, () => {
    let dir: string;
    let file: string;
    let harness: TypingHarness;

    beforeEach(() => {
      dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
      file = path.join(dir, "taken");
      harness = makeHarness(dir);
    });

    afterEach(async () => {
      await harness.executor.kill("scout@team");
      await harness.dispose();
      fs.rmSync(dir, { recursive: true, force: true });
    });

    async function start(argv: readonly string[], ready?: RegExp): Promise<void> {
      const { executor } = harness;
      const launch = { kind: "argv", argv, terminal: true } as const;
      const result = await executor.spawn(teammateConfig(dir, "scout", argv, { launch }));
      if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
      if (ready !== undefined)
        await until(async () => ready.test((await executor.capture?.("scout@team", 20)) ?? ""), ready);
    }
    const submit = (text: string, signal?: AbortSignal) =>
      harness.executor.submitText?.("scout@team", text, signal);
    const lines = (): string[] =>
      fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    const texts = (): string[] => lines().map((hex) => Buffer.from(hex, "hex").toString());
    const taken = (count: number) =>
      until(
        () => lines().length >= count,
        `${count} lines`,
        () => lines().join("\n"),
      );

    it("gives a program that asked for pastes every text as it is, once", async () => {
      await start(typedPrograms.box(file), /ready/);
      for (const text of awkward) expect(await submit(text)).toEqual({ outcome: "submitted" });
      await taken(awkward.length);
      expect(texts()).toEqual(awkward);
    });

    it("lets nothing in a text act as a key or end the paste, of those that come at once either", async () => {
      await start(typedPrograms.box(file), /ready/);
      const hostile = "a\u001b[201~\rINJECTED\u0003\u0004\u0015\u007f\u009b201~\u0000b\r\nc\n\n";
      const all = [hostile, "number 1\nof two", "number 2\nof two"];
      const outcomes = await Promise.all(all.map((text) => submit(text)));
      expect(outcomes.every((outcome) => outcome?.outcome === "submitted")).toBe(true);
      await taken(3);
      expect(texts()).toEqual(["a[201~\nINJECTED201~b\nc", ...all.slice(1)]);
    });

    it("waits for a program that is busy, and lets one that waits for its turn be given up at once", async () => {
      await start(typedPrograms.box(file, { busyMs: 2000 }), /ready/);
      const giveUp = new AbortController();
      const all = [submit("first"), submit("given up", giveUp.signal), submit("last")];
      const reason = new Error("enough");
      giveUp.abort(reason);
      await expect(all[1]).rejects.toBe(reason);
      expect(lines()).toEqual([]);
      expect(await Promise.all([all[0], all[2]])).toEqual([
        { outcome: "submitted" },
        { outcome: "submitted" },
      ]);
      await taken(2);
      expect(texts()).toEqual(["first", "last"]);
    });

    it.each(["cat", "lines"] as const)("types to a program that reads by lines (%s)", async (program) => {
      await start(typedPrograms[program](file));
      expect(await submit("one line, ends in \\ ")).toEqual({ outcome: "submitted" });
      expect(await submit("two\n  more")).toEqual({ outcome: "submitted" });
      await taken(3);
      expect(lines()).toEqual(["one line, ends in \\ ", "two", "  more"]);
    });

    it("types to a shell and to an interpreter", async () => {
      await start(typedPrograms.shell, /[$#]/);
      expect(await submit(`echo "shell $((40 + 2))" >>'${file}'`)).toEqual({ outcome: "submitted" });
      await taken(1);
      await harness.executor.kill("scout@team");
      await start(typedPrograms.python, />>>/);
      const code = `print("python", 6 * 7, file=open('${file}', "a"), flush=True)`;
      expect(await submit(code)).toEqual({ outcome: "submitted" });
      await taken(2);
      expect(lines()).toEqual(["shell 42", "python 42"]);
    });

    it("presses Enter once more where the first changed nothing, and not a third time", async () => {
      await start(typedPrograms.box(file, { deaf: 3 }), /ready/);
      expect(await submit("deaf ")).toMatchObject({ outcome: "unknown", reason: /no answer to Enter/ });
      expect(texts()).toEqual([]);
      expect(await submit("again")).toEqual({ outcome: "submitted" });
      await taken(1);
      expect(texts()).toEqual(["deaf again"]);
    });

    it("types nothing where it cannot or must not", async () => {
      await expect(submit("x")).rejects.toMatchObject({ code: "not-running" });
      await start(typedPrograms.box(file), /ready/);
      await expect(submit(" \n\u001b\n ")).rejects.toMatchObject({ code: "nothing-to-type" });
      await expect(submit("x".repeat(5_000_000))).rejects.toMatchObject({ code: "text-too-long" });
      const reason = new Error("enough");
      await expect(submit("x", AbortSignal.abort(reason))).rejects.toBe(reason);
      await harness.executor.kill("scout@team");
      await expect(submit("x")).rejects.toMatchObject({ code: "not-running" });
      expect(lines()).toEqual([]);
    });
  });
}
