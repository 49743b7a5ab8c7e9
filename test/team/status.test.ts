import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TeamPaths } from "../../src/team/paths.js";
import { readTeamRecord, writeRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { hostStatus, teamStatus } from "../../src/team/status.js";
import { tryLock } from "../../src/util/lock.js";
import { identityOf, type ProcessIdentity, selfIdentity } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { type MadeHome, makeHome, makeTeam } from "../cli/made-team.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function statusOf(paths: TeamPaths) {
  return teamStatus({ paths, record: readTeamRecord(paths) });
}

async function writeHost(paths: TeamPaths, process: ProcessIdentity, endedAt?: string): Promise<void> {
  const record = { v: 1, version: "0", process, publicKey: "", startedAt: new Date().toISOString() } as const;
  await writeRecord(paths.hostRecord, endedAt === undefined ? record : { ...record, endedAt });
}

describe("hostStatus", () => {
  it("tells running, ended and none apart", async () => {
    const paths = await makeTeam(made);
    expect(hostStatus(paths)).toEqual({ state: "none" });
    const lock = await tryLock(paths.lock);
    await writeHost(paths, selfIdentity());
    expect(hostStatus(paths)).toEqual({ state: "running", pid: process.pid });
    lock?.release();
    expect(hostStatus(paths).state).toBe("ended");
  });

  it("says that a host is gone that died with the lock, and what to do", async () => {
    const paths = await makeTeam(made);
    const dead = await deadProcess();
    fs.mkdirSync(paths.lock, { recursive: true });
    fs.writeFileSync(path.join(paths.lock, "1.json"), JSON.stringify({ v: 1, ...dead }));
    await writeHost(paths, dead);
    expect(hostStatus(paths)).toMatchObject({
      state: "gone",
      pid: dead.pid,
      advice: expect.stringMatching(/end by themselves.*troupe down/),
    });
    await writeHost(paths, dead, new Date().toISOString());
    expect(hostStatus(paths).state).toBe("ended");
  });
});

describe("teamStatus", () => {
  it("shows members in the order they joined, with unread mail and where they run", async () => {
    const paths = await makeTeam(made, {
      members: [
        { name: "zoe", state: "working", activity: "reading", model: "offline", context: 10 },
        { name: "ada", ref: { backend: "tmux", agentId: "ada@demo", pane: "%3", runDir: "/tmp" } },
      ],
    });
    fs.writeFileSync(path.join(mailboxOf(paths, "ada"), "new", "0123abcd.json"), "{}");
    fs.writeFileSync(path.join(mailboxOf(paths, "ada"), "new", ".lock-x"), "");
    const { members, team, backend } = statusOf(paths);
    expect({ team, backend }).toEqual({ team: "demo", backend: "in-process" });
    expect(members.map(({ name, unread }) => [name, unread])).toEqual([
      ["user", 0],
      ["zoe", 0],
      ["ada", 1],
    ]);
    expect(members[1]).toMatchObject({
      state: "working",
      activity: "reading",
      model: "offline",
      pid: process.pid,
    });
    expect(members[2]).toMatchObject({ state: "idle", backend: "tmux", pane: "%3" });
    expect(members[2]).not.toHaveProperty("model");
  });

  it("shows one whose process is gone as lost, whatever its record says", async () => {
    const paths = await makeTeam(made, {
      members: [{ name: "zoe", state: "working", activity: "reading", process: await deadProcess() }],
    });
    const zoe = statusOf(paths).members[1];
    expect(zoe).toMatchObject({ state: "ended", reason: "lost" });
    expect(zoe).not.toHaveProperty("activity");
  });

  it("leaves the user alone, who has no process", async () => {
    const paths = await makeTeam(made);
    expect(statusOf(paths).members).toMatchObject([{ name: "user", state: "idle" }]);
  });
});

/** The identity of a process that has ended. */
async function deadProcess(): Promise<ProcessIdentity> {
  const child = spawn("sleep", ["60"]);
  const identity = await waitUntil("sleep", () => identityOf(child.pid ?? 0), { timeoutMs: 5000 });
  child.kill("SIGKILL");
  await waitUntil("its end", () => identityOf(identity.pid) === undefined, { timeoutMs: 5000 });
  return identity;
}
