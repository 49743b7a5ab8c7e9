import { type ChildProcess, spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runIdOf, runIdVariable } from "../../backends/index.js";
import { commandOf } from "../../backends/process-table.js";
import { endAbandoned } from "../../src/team/abandoned.js";
import { cleanHome } from "../../src/team/clean.js";
import { guardTeam } from "../../src/team/host/guard.js";
import { readKept } from "../../src/team/kept.js";
import { memberRunDir } from "../../src/team/paths.js";
import { memberFile, readHostRecord, readMember, writeRecord } from "../../src/team/records.js";
import { tryLock } from "../../src/util/lock.js";
import { identityOf, liveness, type ProcessIdentity, selfIdentity } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

/** Starts a program as a member's, with a child that only its run id gives away; both end with the test. */
async function runMember(team: LivingTeam, name: string): Promise<{ readonly pids: ProcessIdentity[] }> {
  const member = team.member(name);
  const runId = runIdOf(memberRunDir(team.paths, member.incarnation));
  const script = "setsid sleep 300 >/dev/null 2>&1 & echo $!; exec sleep 300";
  const child = spawn("/bin/sh", ["-c", script], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], [runIdVariable]: runId },
  });
  const [stray] = (await once(child.stdout, "data")) as [Buffer];
  const pids = await Promise.all(
    [child.pid!, Number(String(stray))].map((pid) =>
      waitUntil(`process ${pid}`, () => commandOf(pid) === "sleep 300" && identityOf(pid), {
        timeoutMs: 5_000,
      }),
    ),
  );
  onTestFinished(() => end(child, pids));
  const [root] = pids;
  await writeRecord(memberFile(team.paths, name), {
    ...member,
    state: "working",
    process: root!,
    ref: {
      backend: "in-process",
      agentId: member.agentId,
      process: root!,
      runDir: memberRunDir(team.paths, member.incarnation),
    },
  });
  return { pids };
}

/** Puts the members of a team into panes of a server that refuses to answer. */
async function onDeafServer({ paths, record, member }: LivingTeam) {
  const program = path.join(paths.root, "tmux");
  const socket = path.join(paths.root, "s");
  fs.writeFileSync(socket, "");
  const refusal = `error connecting to ${socket} (Permission denied)`;
  fs.writeFileSync(program, `#!/bin/sh\necho '${refusal}' >&2\nexit 1\n`, { mode: 0o700 });
  const server = { socket, process: selfIdentity() };
  const put = async (name: string) => {
    const { ref, ...rest } = member(name);
    const inPane = {
      ...rest,
      ref: { ...ref!, backend: "tmux" as const, pane: "%1", window: "@1", tag: "t", server },
    };
    await writeRecord(memberFile(paths, name), inPane);
  };
  for (const name of ["ada", "bob"]) await put(name);
  const inTmux = { ...record, backend: { ...record.backend, type: "tmux" as const } };
  await writeRecord(paths.teamRecord, inTmux);
  return { paths, record: inTmux, env: { ...process.env, TROUPE_TMUX: program } };
}

function end(child: ChildProcess, pids: readonly ProcessIdentity[]): void {
  child.kill("SIGKILL");
  for (const identity of pids) if (liveness(identity) === "alive") process.kill(identity.pid, "SIGKILL");
}

const alive = (pids: readonly ProcessIdentity[]) => pids.map((identity) => liveness(identity) === "alive");

describe("endAbandoned", () => {
  it("ends every member's processes, strays too, and closes the records", async () => {
    const team = await makeLivingTeam();
    const [ada, bob] = await Promise.all([runMember(team, "ada"), runMember(team, "bob")]);
    const reports = await endAbandoned(team, { env: {} });
    expect(reports.map(({ name, how, report }) => [name, how, report.survivors])).toEqual([
      ["ada", "terminated", []],
      ["bob", "terminated", []],
    ]);
    expect(alive([...ada.pids, ...bob.pids])).toEqual([false, false, false, false]);
    for (const name of ["ada", "bob"])
      expect(readMember(team.paths, name)).toMatchObject({
        state: "ended",
        reason: "lost",
        detail: "its host was gone",
      });
    expect(readMember(team.paths, "user")).toMatchObject({ state: "idle" });
    expect(readHostRecord(team.paths)?.endedAt).toBeDefined();
    const again = await endAbandoned(team, { env: {} });
    expect(again.map(({ how }) => how)).toEqual(["already", "already"]);
  });

  it("ends only whom it is told to; the team then still has others to end", async () => {
    const team = await makeLivingTeam();
    const [ada, bob] = await Promise.all([runMember(team, "ada"), runMember(team, "bob")]);
    await endAbandoned(team, { names: ["ada"], env: {} });
    expect(alive([...ada.pids, ...bob.pids])).toEqual([false, false, true, true]);
    expect(readMember(team.paths, "bob")?.state).toBe("working");
    expect(readHostRecord(team.paths)?.endedAt).toBeUndefined();
  });

  it("leaves a member alone whose record names a process that is another one now", async () => {
    const team = await makeLivingTeam();
    const { pids } = await runMember(team, "ada");
    const ada = readMember(team.paths, "ada")!;
    const recycled = { ...pids[0]!, startTime: "1" };
    await writeRecord(memberFile(team.paths, "ada"), {
      ...ada,
      incarnation: "01234567",
      process: recycled,
      ref: { ...ada.ref!, process: recycled },
    });
    const [report] = await endAbandoned(team, { names: ["ada"], env: {} });
    expect(report).toMatchObject({ how: "already", report: { found: [] } });
    expect(alive(pids)).toEqual([true, true]);
  });

  it("waits for others who end the same team", async () => {
    const team = await makeLivingTeam();
    const [ada] = await Promise.all([runMember(team, "ada"), runMember(team, "bob")]);
    // The lock is in the hands of a process that is not the host.
    const host = readHostRecord(team.paths)!;
    await writeRecord(team.paths.hostRecord, { ...host, process: { ...host.process, startTime: "0" } });
    const lock = await tryLock(team.paths.lock);
    // Every look at the lock lists its directory.
    const looks = vi.spyOn(fs, "readdirSync");
    const looked = () => looks.mock.calls.filter(([dir]) => dir === team.paths.lock).length >= 6;
    onTestFinished(() => looks.mockRestore());
    const ending = endAbandoned(team, { env: {} });
    await waitUntil("some looks at the lock", looked, { timeoutMs: 20_000 });
    expect(alive(ada.pids)).toEqual([true, true]);
    lock?.release();
    expect((await ending).map(({ how }) => how)).toEqual(["terminated", "terminated"]);
  });

  it("ends all that can be ended where something cannot, and then says what that was", async () => {
    const team = await makeLivingTeam();
    const members = [await runMember(team, "ada"), await runMember(team, "bob")];
    const inPanes = await onDeafServer(team);
    const left = path.join(team.paths.members, ".ada.json.1.1.tmp");
    fs.writeFileSync(left, "");
    const dry = await cleanHome({ home: team.paths.home, env: inPanes.env, dryRun: true });
    expect(dry.items.map(({ kind }) => kind).sort()).toEqual(["file", ...Array(4).fill("process"), "record"]);
    expect(dry.skipped).toMatchObject([{ reason: expect.stringContaining("Permission denied") }]);
    await expect(endAbandoned(inPanes, { env: inPanes.env })).rejects.toMatchObject({
      code: "tmux-refused",
      message: expect.stringMatching(/has been ended, but panes of it may be open still: .*denied/),
      remedy: expect.stringMatching(/ls -l .*; then once more: troupe down --team /),
    });
    expect(alive(members.flatMap(({ pids }) => pids))).toEqual(Array(4).fill(false));
    expect(fs.existsSync(left)).toBe(false);
    expect(readMember(team.paths, "bob")).toMatchObject({ state: "ended", reason: "lost" });
  });

  it("leaves what a person keeps, now and later, and refuses to keep what is none of theirs before it ends anything", async () => {
    const team = await makeLivingTeam();
    const [ada, bob] = await Promise.all([runMember(team, "ada"), runMember(team, "bob")]);
    const [root, stray] = ada.pids as [ProcessIdentity, ProcessIdentity];
    const ended = (keep: readonly number[], names = ["ada"]) => endAbandoned(team, { names, keep, env: {} });
    for (const [pid, reason] of [
      [bob.pids[1]!.pid, /is none of ada's/],
      [root.pid, /is what is to be ended/],
    ] as const)
      await expect(ended([stray.pid, pid])).rejects.toMatchObject({
        code: "not-in-team",
        kind: "usage",
        message: expect.stringMatching(reason),
        remedy: expect.stringContaining(`${stray.pid} (sleep 300)`),
      });
    expect(alive([...ada.pids, ...bob.pids])).toEqual([true, true, true, true]);

    const [report] = await ended([stray.pid]);
    const kept = [{ pid: stray.pid, command: "sleep 300" }];
    expect(report?.report).toMatchObject({ survivors: [], kept });
    expect(report?.report.found.map(({ pid }) => pid)).not.toContain(stray.pid);
    await endAbandoned(team, { env: {} });
    expect(alive([...ada.pids, ...bob.pids])).toEqual([false, true, false, false]);
    process.kill(stray.pid, "SIGKILL");
    await waitUntil("its end", () => liveness(stray) === "gone", { timeoutMs: 5_000 });
    expect(readKept(team.paths.home)).toEqual([]);
    expect(fs.readdirSync(path.join(team.paths.home, "kept"))).toEqual([]);
  });

  it("refuses a team that has a host", async () => {
    const team = await makeLivingTeam();
    const lock = await tryLock(team.paths.lock);
    await expect(endAbandoned(team, { env: {} })).rejects.toMatchObject({ code: "team-runs" });
    lock?.release();
    await endAbandoned(team, { env: {} });
    expect((await tryLock(team.paths.lock))?.token).toBeGreaterThan(1);
  });
});

describe("guardTeam", () => {
  const guard = (team: LivingTeam, orphanTimeoutMs: number, signal = new AbortController().signal) =>
    guardTeam(team, { orphanTimeoutMs, env: {}, signal });

  it("ends what a host left that died, after the orphan timeout", async () => {
    const team = await makeLivingTeam();
    const { pids } = await runMember(team, "ada");
    const server = net.createServer();
    await once(server.listen(team.paths.socket), "listening");
    const guarding = guard(team, 300);
    const [connection] = (await once(server, "connection")) as [net.Socket];
    expect(alive(pids)).toEqual([true, true]);
    const died = Date.now();
    server.close();
    connection.destroy();
    await guarding;
    expect(Date.now() - died).toBeGreaterThanOrEqual(290);
    expect(alive(pids)).toEqual([false, false]);
    expect(readMember(team.paths, "ada")).toMatchObject({ state: "ended", reason: "lost" });
  });

  it("writes into the host's log what it could not end, and what to do", async () => {
    const team = await makeLivingTeam();
    const { pids } = await runMember(team, "ada");
    await runMember(team, "bob");
    const inPanes = await onDeafServer(team);
    const { signal } = new AbortController();
    await guardTeam(inPanes, { orphanTimeoutMs: 1, env: inPanes.env, signal });
    expect(alive(pids)).toEqual([false, false]);
    const log = fs.readFileSync(team.paths.hostLog, "utf8");
    expect(log).toMatch(/^\S+ notice .*panes of it may be open still.*troupe down --team \S+"\}\n$/);
  });

  it("ends nothing after an orderly end", async () => {
    const team = await makeLivingTeam();
    const { pids } = await runMember(team, "ada");
    const endedAt = new Date().toISOString();
    await writeRecord(team.paths.hostRecord, { ...readHostRecord(team.paths)!, endedAt });
    await guard(team, 60_000);
    expect(alive(pids)).toEqual([true, true]);
  });

  it.each(["before it looks", "while it waits"])(
    "leaves the members to another host that has taken over %s",
    async (when) => {
      const team = await makeLivingTeam();
      const { pids } = await runMember(team, "ada");
      const dead = { ...readHostRecord(team.paths)!.process, startTime: "0" };
      await writeRecord(team.paths.hostRecord, { ...readHostRecord(team.paths)!, process: dead });
      const before = when === "before it looks" ? await tryLock(team.paths.lock) : undefined;
      const guarding = guard(team, before === undefined ? 1_000 : 60_000);
      const lock = before ?? (await tryLock(team.paths.lock));
      await guarding;
      lock?.release();
      expect(alive(pids)).toEqual([true, true]);
      expect(readMember(team.paths, "ada")?.state).toBe("working");
    },
  );

  it("is not misled by the lock of its host, whose connections end before it does", async () => {
    const team = await makeLivingTeam();
    const { pids } = await runMember(team, "ada");
    const lock = await tryLock(team.paths.lock);
    const { signal } = new AbortController();
    const guarding = guard(team, 1_500, signal);
    // It listens for the signal while it waits for its next look.
    const looked = () => getEventListeners(signal, "abort").length > 0;
    await waitUntil("its first look", looked, { timeoutMs: 10_000 });
    lock?.release();
    await guarding;
    expect(alive(pids)).toEqual([false, false]);
  });

  it("goes when somebody else has ended the members", async () => {
    const team = await makeLivingTeam();
    const { pids } = await runMember(team, "ada");
    const guarding = guard(team, 600_000);
    await endAbandoned(team, { env: {} });
    await guarding;
    expect(alive(pids)).toEqual([false, false]);
  });

  it("can be given up", async () => {
    const stop = new AbortController();
    const given = expect(guard(await makeLivingTeam(), 60_000, stop.signal)).rejects.toThrow("enough");
    stop.abort(new Error("enough"));
    await given;
  });
});
