import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { outputLogOf } from "../../../backends/output-log.js";
import { readExit } from "../../../backends/records.js";
import { waitUntil } from "../../../src/util/wait.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { executorOf, startProgram } from "./support.js";

const waiting = { timeoutMs: 60_000 } as const;
const sizeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? -1;

describe("what a teammate's pane shows", () => {
  const setUp = () => {
    const dir = temporaryDirectory();
    const place = { kind: "own", runDir: path.join(dir, "t"), userConfig: false } as const;
    return { dir, executor: executorOf(dir, place) };
  };

  it("is in the log to the last byte, though the program ends and its pane is closed at once", async () => {
    const { dir, executor } = setUp();
    await startProgram(executor, dir, "b", "sleep", "300");
    for (const bytes of [5, 70_000, 10_000_000]) {
      const command = `head -c ${bytes} /dev/zero | tr '\\0' x`;
      const { runDir } = await startProgram(executor, dir, "a", "/bin/sh", "-c", command);
      await waitUntil("the end", () => readExit(runDir), waiting);
      await executor.kill("a@team");
      const log = outputLogOf(runDir);
      await waitUntil(`${bytes} bytes, now ${sizeOf(log)}`, () => sizeOf(log) >= bytes, waiting);
      expect(sizeOf(log)).toBe(bytes);
    }
  });

  it("is there for a start that failed, whatever it was", async () => {
    const { dir, executor } = setUp();
    const config = teammateConfig(dir, "a", [
      "/bin/sh",
      "-c",
      "printf 'no licence\\n\\000\\377\\033[1m'; exit 4",
    ]);
    const result = await executor.spawn(config);
    expect(result).toMatchObject({ ok: false, code: "exited" });
    expect(!result.ok && result.screen).toContain("no licence");
    const log = outputLogOf(config.runDir);
    await waitUntil("the log", () => sizeOf(log) > 10, waiting);
    expect(fs.readFileSync(log).toString("latin1")).toBe("no licence\r\n\0\u00ff\u001b[1m");
  });

  it("is kept byte for byte, and shown without what would act on a terminal", async () => {
    const { dir, executor } = setUp();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const file = path.join(dir, "bytes");
    fs.writeFileSync(file, bytes);
    // Without output processing; a line of text ends what the bytes may have begun.
    const command = `stty -opost; cat '${file}'; printf '\\030\\033c\\r\\nthe last line\\r\\n'; exec sleep 300`;
    const { runDir } = await startProgram(executor, dir, "a", "/bin/sh", "-c", command);
    const log = outputLogOf(runDir);
    await waitUntil("the log", () => sizeOf(log) >= 256 + 20, waiting);
    expect(fs.readFileSync(log).subarray(0, 256)).toEqual(bytes);
    const shown = await waitUntil(
      "the line",
      async () => {
        const text = await executor.capture("a@team", 5);
        return text.includes("the last line") && text;
      },
      waiting,
    );
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });
});
