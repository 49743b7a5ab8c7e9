import { describe, expect, it, onTestFinished } from "vitest";
import { openMailbox } from "../../../mailbox/index.js";
import type { HostContext } from "../../../src/team/host/context.js";
import { workDone } from "../../../src/team/host/done.js";
import type { MemberState } from "../../../src/team/member-state.js";
import type { MemberRecord } from "../../../src/team/records.js";
import { mailboxOf } from "../../../src/team/send.js";
import { delay, waitUntil } from "../../../src/util/wait.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

interface Watched {
  readonly team: LivingTeam;
  readonly context: HostContext;
  /** How often all members were looked at. */
  looks(): number;
  /** Puts a member into a state, whatever it was before. */
  put(name: string, fields: Partial<MemberRecord>): Promise<void>;
  report(name: string, state: MemberState["state"]): void;
  /** Begins to wait; `isDone` says whether it has come about. */
  watch(started?: () => boolean): { isDone(): boolean; readonly done: Promise<void> };
}

/** A team of the idle agents ada and bob. */
async function watched(): Promise<Watched> {
  const team = await makeLivingTeam();
  const made = await hostContext(team);
  let looks = 0;
  const roster = new Proxy(made.roster, {
    get(target, key) {
      if (key === "all") looks++;
      return Reflect.get(target, key);
    },
  });
  const context = { ...made, roster };
  return {
    team,
    context,
    looks: () => looks,
    put: (name, fields) => roster.put({ ...team.member(name), ...fields } as MemberRecord),
    report(name, state) {
      const { incarnation } = team.member(name);
      roster.setState(name, incarnation, { state, since: new Date().toISOString() });
    },
    watch(started = () => true) {
      const stop = new AbortController();
      let isDone = false;
      const done = workDone(context, started, stop.signal).then(
        () => {
          isDone = true;
        },
        () => undefined,
      );
      onTestFinished(async () => {
        stop.abort(new Error("the test is over"));
        await done;
      });
      return { isDone: () => isDone, done };
    },
  };
}

/** Waits for so many further looks at the members. */
async function moreLooks({ looks }: Watched, count: number): Promise<void> {
  const before = looks();
  await waitUntil("looks", () => looks() >= before + count, { timeoutMs: 20_000 });
}

describe("work is done", () => {
  it("after two looks at a quiet team", async () => {
    const it = await watched();
    await it.watch().done;
    expect(it.looks()).toBe(2);
  });

  it.each(["starting", "working", "stopping"] as const)("not while a member is %s", async (state) => {
    const it = await watched();
    await it.put("bob", { state });
    const { isDone, done } = it.watch();
    await moreLooks(it, 3);
    expect(isDone()).toBe(false);
    it.report("bob", "ended");
    await done;
  });

  it("not before all members were started", async () => {
    const it = await watched();
    let started = false;
    const { isDone, done } = it.watch(() => started);
    await delay(500);
    expect(isDone()).toBe(false);
    started = true;
    await done;
  });

  it.each(["new", "cur"] as const)("not while an agent has unread mail in %s", async (room) => {
    const it = await watched();
    const { id } = await it.team.post("bob", "ada");
    const mailbox = openMailbox(mailboxOf(it.team.paths, "ada"));
    if (room === "cur") mailbox.claim();
    const { isDone, done } = it.watch();
    await moreLooks(it, 3);
    expect(isDone()).toBe(false);
    mailbox.claim();
    mailbox.acknowledge([id]);
    await done;
  });

  it("although others have mail: the user, a command, one that ended, a service", async () => {
    const it = await watched();
    await it.put("ada", { kind: "command", state: "ended" });
    await it.put("bob", { state: "ended", reason: "failed" });
    for (const to of ["ada", "bob", "user"]) await it.team.post("user", to);
    await it.watch().done;
    await it.put("ada", { state: "idle", service: true });
    await it.put("bob", { kind: "command", state: "idle" });
    await it.watch().done;
  });

  it("while a service works", async () => {
    const it = await watched();
    await it.put("bob", { state: "working", service: true });
    await it.watch().done;
  });

  it("not while a command runs", async () => {
    const it = await watched();
    await it.put("bob", { kind: "command", state: "working" });
    const { isDone, done } = it.watch();
    await moreLooks(it, 3);
    expect(isDone()).toBe(false);
    it.report("bob", "ended");
    await done;
  });

  it("although a failed agent keeps the mail that it failed to answer, but not if more has come", async () => {
    const it = await watched();
    const mailbox = openMailbox(mailboxOf(it.team.paths, "ada"));
    await it.team.post("bob", "ada");
    mailbox.claim();
    await it.put("ada", { state: "idle", reason: "failed" });
    await it.watch().done;
    await it.team.post("bob", "ada");
    const { isDone, done } = it.watch();
    await moreLooks(it, 3);
    expect(isDone()).toBe(false);
    mailbox.claim();
    await done;
  });

  it("not in between: mail that woke a member and was read between two looks", async () => {
    const it = await watched();
    const { isDone, done } = it.watch();
    for (let round = 0; round < 3; round++) {
      it.report("ada", "working");
      it.report("ada", "idle");
      await moreLooks(it, 1);
    }
    expect(isDone()).toBe(false);
    await done;
    expect(it.looks()).toBeGreaterThanOrEqual(5);
  });

  it("is not waited for any more after the signal", async () => {
    const it = await watched();
    await it.put("bob", { state: "working" });
    await expect(workDone(it.context, () => true, AbortSignal.abort(new Error("enough")))).rejects.toThrow(
      "enough",
    );
  });
});
