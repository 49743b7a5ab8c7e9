import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { writeExit } from "../../../backends/records.js";
import { memberGone } from "../../../src/team/host/member-gone.js";
import { memberRunDir } from "../../../src/team/paths.js";
import { type MemberRecord, readMember } from "../../../src/team/records.js";
import { trustedSender } from "../../../src/team/trusted-sender.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

/** The member `ada`, whose process is gone. */
async function goneMember(fields: Partial<MemberRecord> = {}, lead: "user" | "lead" = "user") {
  const team = await makeLivingTeam({ lead, agents: ["lead", "ada"] });
  const context = await hostContext(team);
  const ada: MemberRecord = { ...team.member("ada"), kind: "command", state: "working", ...fields };
  await context.roster.put(ada);
  const runDir = memberRunDir(team.paths, ada.incarnation);
  const settle = async (error?: unknown): Promise<MemberRecord | undefined> => {
    await memberGone(context, ada, error);
    await context.roster.flush();
    return readMember(team.paths, "ada");
  };
  return { team, context, ada, runDir, settle };
}

describe("a member that is gone", () => {
  it.each([
    [{ exitCode: 0, signal: null }, "completed", undefined],
    [{ exitCode: 3, signal: null }, "failed", "exit code 3"],
    [{ exitCode: null, signal: "SIGKILL" }, "killed", "by SIGKILL"],
  ])("has ended as its exit record says: %j", async (exit, reason, detail) => {
    const { team, runDir, settle } = await goneMember();
    fs.writeFileSync(path.join(runDir, "output.log"), "line one\n\u001b[31mred\n");
    await writeExit(runDir, exit);
    expect(await settle()).toMatchObject({ state: "ended", reason, exit, ...(detail && { detail }) });
    const [mail] = team.mailOf("user");
    expect(mail).toMatchObject({
      kind: "command-exit",
      from: "ada",
      ...exit,
      tail: "line one\n[31mred\n",
      text: expect.stringMatching(/^ada ended: .*\nIts last output:\nline one\n/),
    });
    expect(trustedSender(mail!, team, "user")).toBe("ada");
  });

  it("is waited for if its exit record is late", async () => {
    const { context, ada, runDir, settle } = await goneMember();
    const settled = settle();
    // It has looked once by now, since its first look waits for nothing.
    expect(context.settling).toContain(ada.incarnation);
    await writeExit(runDir, { exitCode: 4, signal: null });
    expect(await settled).toMatchObject({ reason: "failed", detail: "exit code 4" });
  });

  it.each([undefined, "no json", '{"v":1,"exitCode":', '{"v":7}\n'])(
    "is lost without an exit record that says how: %j",
    async (record) => {
      const { runDir, team, settle } = await goneMember();
      if (record !== undefined) fs.writeFileSync(path.join(runDir, "exit.json"), record);
      expect(await settle()).toMatchObject({ state: "ended", reason: "lost" });
      expect(team.mailOf("user")).toMatchObject([{ exitCode: null, signal: null, tail: "" }]);
    },
  );

  it("has failed if its run threw, and reports as an agent does", async () => {
    const { runDir, team, settle } = await goneMember({ kind: "agent" }, "lead");
    await writeExit(runDir, { exitCode: 0, signal: null });
    expect(await settle(new Error("no\nmemory"))).toMatchObject({ reason: "failed", detail: "no memory" });
    expect(team.mailOf("lead")).toMatchObject([
      { kind: "idle", reason: "failed", text: "ada ended: failed no memory" },
    ]);
    expect(team.mailOf("user")).toEqual([]);
  });

  it("is told by one mail, before the state says so, however often its end is noticed", async () => {
    const { context, team, runDir, settle } = await goneMember();
    await writeExit(runDir, { exitCode: 1, signal: null });
    let mailAtEnd = -1;
    context.hub.listen((event) => {
      if (event.type === "member-state") mailAtEnd = team.mailOf("user").length;
    });
    await Promise.all([settle(), settle(), settle()]);
    await settle();
    expect(team.mailOf("user")).toHaveLength(1);
    expect(mailAtEnd).toBe(1);
    expect(context.events.filter(({ type }) => type === "member-state")).toHaveLength(1);
    expect(context.settling.size).toBe(0);
  });

  it("that was asked to end is no news to the lead", async () => {
    const { runDir, team, settle } = await goneMember({ kind: "agent", state: "stopping" });
    await writeExit(runDir, { exitCode: 0, signal: null });
    expect(await settle()).toMatchObject({ state: "ended", reason: "completed" });
    expect(team.mailOf("user")).toEqual([]);
  });

  it("that is asked to end while its record is waited for is no news either", async () => {
    const { context, ada, team, settle } = await goneMember();
    const settled = settle();
    context.roster.setState("ada", ada.incarnation, { state: "stopping", since: new Date().toISOString() });
    expect(await settled).toMatchObject({ state: "ended" });
    expect(team.mailOf("user")).toEqual([]);
  });

  it("of an earlier start, or that has ended, changes nothing", async () => {
    const { context, ada, team, settle } = await goneMember({ state: "ended", reason: "completed" });
    await settle(new Error("late"));
    await context.roster.put({ ...ada, incarnation: "later", state: "working" });
    await settle(new Error("late"));
    expect(context.roster.find("ada")).toMatchObject({ incarnation: "later", state: "working" });
    expect(team.mailOf("user")).toEqual([]);
  });

  it("has ended even if its lead cannot be told, which is said", async () => {
    const { context, runDir, settle } = await goneMember();
    fs.rmSync(path.join(runDir, "key.pem"));
    await writeExit(runDir, { exitCode: 0, signal: null });
    expect(await settle()).toMatchObject({ state: "ended", reason: "completed" });
    expect(context.events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        level: "warning",
        name: "ada",
        text: expect.stringMatching(/^ada ended, and its lead was not told: the key /),
      }),
    );
  });

  it("tells nobody if it is the lead itself", async () => {
    const { team, context } = await goneMember({}, "lead");
    const lead: MemberRecord = { ...team.member("lead"), state: "working" };
    await context.roster.put(lead);
    await memberGone(context, lead, new Error("x"));
    expect(context.roster.find("lead")).toMatchObject({ state: "ended", reason: "failed" });
    expect([...team.mailOf("lead"), ...team.mailOf("user")]).toEqual([]);
  });
});
