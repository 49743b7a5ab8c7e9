import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askTmuxVersion, createTmuxClient } from "../../../backends/tmux/client.js";
import { probeTmux } from "../../../backends/tmux/probe.js";
import { isNewEnough } from "../../../backends/tmux/version.js";
import { startTmux, type TestTmux, tmuxProgram } from "../../helpers/tmux.js";

describe("the tmux client", () => {
  let tmux: TestTmux;
  beforeAll(() => {
    tmux = startTmux();
  });
  afterAll(() => tmux.stop());

  const client = (socket = tmux.socket, program = tmuxProgram) =>
    createTmuxClient({ program, socket, env: process.env });

  it("hands every argument over as it is", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 }).map((value) => value.replaceAll("\0", ""));
    const awkward = fc.constantFrom(
      ";",
      "a;",
      "\\;",
      "a\\;",
      "#{pid}",
      "-x",
      "'",
      '"',
      "$HOME",
      "~",
      "{",
      "}",
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, awkward), async (value) => {
        const answer = await client().run([
          ["set-option", "-g", "@value", value],
          ["set-option", "-g", "@after", "ran"],
          ["show-options", "-g", "-v", "@value"],
        ]);
        expect(answer.ok && answer.stdout).toBe(`${value}\n`);
      }),
      { numRuns: 40 },
    );
  });

  it("tells failures apart", async () => {
    const failureOf = async (run: ReturnType<ReturnType<typeof client>["run"]>) => {
      const answer = await run;
      return answer.ok ? "ok" : answer.failure;
    };
    expect(await failureOf(client().run([["list-panes", "-t", "%99"]]))).toBe("no-target");
    expect(await failureOf(client().run([["no-such-command"]]))).toBe("other");
    expect(await failureOf(client().run([["set-option", "-g", "@x", "y".repeat(20_000)]]))).toBe("too-long");
    expect(await failureOf(client().run([["set-option", "-g", "@x", "y".repeat(3_000_000)]]))).toBe(
      "too-long",
    );
    expect(await failureOf(client().run([["run-shell", "sleep 5"]], 100))).toBe("timeout");
    expect(await failureOf(client("/nonexistent/s").run([["list-panes"]]))).toBe("no-server");
    expect(await failureOf(client(tmux.socket, "troupe-no-tmux").run([["list-panes"]]))).toBe("missing");
    expect(
      await failureOf(client().run([["split-window", "-d", "-l", "1", "-t", "%0", "true ; :"]])),
    ).toMatch(/ok/);
    expect(
      await failureOf(
        client().run([
          ["resize-window", "-x", "3", "-y", "2", "-t", "@0"],
          ["split-window", "-d", "-t", "%0", "true ; :"],
        ]),
      ),
    ).toBe("no-space");
  });

  it("gives the output of the commands before the one that failed", async () => {
    const answer = await client().run([
      ["display-message", "-p", "first"],
      ["list-panes", "-t", "%99"],
    ]);
    expect(answer).toMatchObject({ ok: false, stdout: "first\n" });
  });

  it("tells a version that is too old from one that will do", () => {
    for (const text of [
      "tmux 3.2",
      "tmux 3.3a",
      "tmux 3.10",
      "tmux 4.0",
      "tmux 3.2-rc",
      "tmux 3.3-rc2",
      "tmux next-3.3",
      "tmux next-3.5",
      "tmux next-3.8",
      "tmux openbsd-7.4",
      "tmux master",
    ])
      expect([text, isNewEnough(text)]).toEqual([text, true]);
    for (const text of [
      "tmux 3.1c",
      "tmux 2.9a",
      "tmux 1.8",
      "tmux next-3.1",
      "tmux next-3.2",
      "tmux 3.1-rc",
      "tmux openbsd-6.6",
    ])
      expect([text, isNewEnough(text)]).toEqual([text, false]);
    for (const text of ["", "screen 4.0", "tmux", "tmux three", "not tmux 3.4", "tmux nightly-3.4"])
      expect([text, isNewEnough(text)]).toEqual([text, undefined]);
  });

  it("says what is wrong with the tmux that is installed", async () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
    const fake = (name: string, says: string) => {
      const file = path.join(dir, name);
      fs.writeFileSync(file, `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 });
      return file;
    };
    const probe = (program: string) => probeTmux({ program, env: process.env });
    try {
      expect(await probe(tmuxProgram)).toMatchObject({ available: true, code: "ok" });
      expect(await probe("troupe-no-tmux")).toMatchObject({
        code: "tmux-missing",
        remedy: expect.stringContaining("tmux"),
      });
      expect(await probe(fake("old", "tmux 3.0a"))).toMatchObject({
        code: "tmux-too-old",
        reason: "tmux 3.0a is installed, 3.2 or newer is needed",
        remedy: expect.stringContaining("TROUPE_TMUX"),
      });
      expect(await probe(fake("odd", "hello"))).toMatchObject({
        code: "tmux-unknown-version",
        reason: expect.stringContaining("hello, which names no version of tmux"),
        remedy: expect.stringContaining("TROUPE_TMUX"),
      });
      expect((await askTmuxVersion(tmuxProgram, process.env)).ok).toBe(true);
    } finally {
      fs.rmSync(dir, { recursive: true, force: true });
    }
  });
});
