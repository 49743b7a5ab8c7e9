import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { openMailbox } from "../../mailbox/index.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { startUnder } from "./children.js";
import { scratchMailbox } from "./support.js";

/** Runs a program on a system where no link can be made. */
const linkless = [
  "strace",
  "-f",
  "-qq",
  "-o",
  "/dev/null",
  "-e",
  "trace=link,linkat",
  "-e",
  "inject=link,linkat:error=EPERM",
];
const canTrace = spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0;

describe("without hard links", { timeout: 120_000 }, () => {
  test.each([
    ["by the library's option", [], ["option"]],
    ...(canTrace ? [["by the system", linkless, []] as const] : []),
  ] as const)("refused %s, everything else holds", async (_, wrapper, args) => {
    const root = temporaryDirectory();
    const child = startUnder(wrapper, "no-links", root, ...args);
    expect(await child.ended).toEqual([0, null]);
    const outcome = JSON.parse(child.lines.join(""));
    const [all, allSync] = ["00000002-all", "00000003-all-sync"];
    const counts = (done: number) => ({ tmp: 0, new: 0, cur: 0, done, bad: 0 });
    const stored = ["a", "b", "c"].map((name) => ({ name, ok: true, duplicate: false }));
    expect(outcome).toMatchObject({
      broadcasts: [...stored, ...stored],
      taken: "id-taken",
      afterLock: { duplicate: false },
      read: [
        {
          ids: [...Array.from({ length: 30 }, (_, n) => `00000000-${n + 10}`), "00000001-sync", all, allSync],
          counts: counts(33),
          receipts: ["seen"],
        },
        { ids: [all, allSync, "00000004-twice"], counts: counts(3), receipts: ["seen"] },
        { ids: [all, allSync, "00000005-locked"], counts: counts(3), receipts: ["seen"] },
      ],
      left: [],
    });
    expect(outcome.twice.map(({ duplicate }: { duplicate: boolean }) => duplicate).sort()).toEqual([
      false,
      true,
      true,
    ]);
  });

  test.runIf(canTrace)("two processes that send the same messages store each once", async () => {
    const dir = await scratchMailbox();
    const senders = [0, 1].map(() => startUnder(linkless, "same-ids", dir, "100"));
    for (const { ended } of senders) expect(await ended).toEqual([0, null]);
    const outcomes = senders.flatMap(({ lines }) => lines);
    expect(outcomes.filter((line) => line === "stored")).toHaveLength(100);
    expect(outcomes.filter((line) => line === "duplicate")).toHaveLength(100);
    expect(openMailbox(dir).claim().messages).toHaveLength(100);
    expect(openMailbox(dir).counts()).toEqual({ tmp: 0, new: 0, cur: 100, done: 0, bad: 0 });
  });
});
