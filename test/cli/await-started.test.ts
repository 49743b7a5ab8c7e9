import { describe, expect, it } from "vitest";
import { awaitStarted } from "../../src/cli/await-started.js";
import type { HostConnection } from "../../src/team/host/client.js";
import type { HostResult } from "../../src/team/host/protocol.js";
import { memberFile, writeRecord } from "../../src/team/records.js";
import { orAbort } from "../../src/util/wait.js";
import { until } from "../helpers/until.js";
import { makeLivingTeam } from "../team/living-team.js";

const names = (count: number) => Array.from({ length: count }, (_, n) => `mate${n}`);

/** A team whose members all start, and the wait for them. */
async function waiting(
  count: number,
  times: Parameters<typeof awaitStarted>[3],
  { already = 0, onNote = async (_notes: number): Promise<unknown> => undefined } = {},
) {
  const team = await makeLivingTeam({ agents: names(count) });
  const becomes = (name: string, state: "starting" | "idle") =>
    writeRecord(memberFile(team.paths, name), { ...team.member(name), state });
  for (const [n, name] of names(count).entries()) await becomes(name, n < already ? "idle" : "starting");
  let answer: (value: HostResult<"ready">) => void = () => undefined;
  const answered = new Promise<HostResult<"ready">>((resolve) => {
    answer = resolve;
  });
  let asked: AbortSignal | undefined;
  const host = {
    request(_method: string, _params: object, { signal }: { signal: AbortSignal }) {
      asked = signal;
      return orAbort(answered, signal);
    },
  } as unknown as HostConnection;
  const notes: string[] = [];
  const stop = new AbortController();
  const note = async (line: string) => void (await onNote(notes.push(line)));
  const io = { note, signal: stop.signal };
  const started = awaitStarted(team, host, io, times);
  started.catch(() => undefined);
  return { started, answer, notes, becomes, stop, isOver: () => asked?.aborted };
}

describe("the wait for a team's start", () => {
  it("gives what the host answers, and says nothing of a small team", async () => {
    const { started, answer, notes, becomes, isOver } = await waiting(2, { lookMs: 5, silenceMs: 60_000 });
    await becomes("mate0", "idle");
    setTimeout(() => answer({ failed: [] }), 50);
    expect(await started).toEqual({ failed: [] });
    expect(notes).toEqual([]);
    expect(isOver()).toBe(true);
  });

  it("tells how many of a large team are there whenever there are more", async () => {
    const { started, answer, notes, becomes } = await waiting(9, { lookMs: 5, silenceMs: 60_000 });
    for (const [n, name] of ["mate3", "mate1"].entries()) {
      await becomes(name, "idle");
      await until(() => notes.length > n, "a note");
    }
    answer({ failed: [] });
    await started;
    expect(notes).toEqual(["troupe: 1 of 9 members are there", "troupe: 2 of 9 members are there"]);
  });

  it("goes on for as long as somebody comes, and ends where nobody does for too long", async () => {
    const onNote = async (notes: number) => notes < 8 && wait.becomes(`mate${notes}`, "idle");
    const wait = await waiting(9, { lookMs: 5, silenceMs: 10 }, { already: 1, onNote });
    await expect(wait.started).rejects.toMatchObject({ code: "deadline", exitCode: 3 });
    expect(wait.notes.at(-1)).toBe("troupe: 8 of 9 members are there");
    expect(wait.isOver()).toBe(true);
  });

  it("ends with its caller", async () => {
    const { started, stop } = await waiting(1, { lookMs: 60_000, silenceMs: 60_000 });
    stop.abort(new Error("interrupted"));
    await expect(started).rejects.toThrow("interrupted");
  });
});
