import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { commandOf, listProcesses } from "../../backends/process-table.js";
import { endTree, findKept, findTree, killTreesNow, signalTree } from "../../backends/process-tree.js";
import { identityOf, liveness, readStat, selfIdentity } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { bundleScript } from "../helpers/bundle.js";
import { temporaryDirectory } from "../helpers/temp.js";

describe("a process tree", () => {
  const children: ChildProcess[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  });

  /** Starts a shell at the head of its own session and waits until it has written its mark. */
  async function start(command: string, options: { env?: Record<string, string> } = {}) {
    const dir = temporaryDirectory();
    const mark = path.join(dir, "mark");
    const child = spawn("/bin/sh", ["-c", `${command}\necho >'${mark}'\nwait`], {
      detached: true,
      stdio: "ignore",
      cwd: dir,
      env: { PATH: process.env["PATH"], ...options.env },
    });
    children.push(child);
    await waitUntil("the mark", () => fs.existsSync(mark), { timeoutMs: 20_000 });
    const root = identityOf(child.pid ?? 0);
    if (root === undefined) throw new Error("the shell has ended");
    return { child, root };
  }

  it("is ended with everything in it, and told", async () => {
    const { root } = await start("sleep 300 & sleep 301 &");
    const programs = () => findTree({ root }).filter(({ command }) => command.startsWith("sleep"));
    await waitUntil("both programs", () => programs().length === 2, { timeoutMs: 20_000 });
    const report = await endTree({ root }, { graceMs: 2000 });
    expect(report.survivors).toEqual([]);
    expect(
      report.found
        .map(({ command }) => command)
        .filter((text) => text.startsWith("sleep"))
        .sort(),
    ).toEqual(["sleep 300", "sleep 301"]);
    expect(report.ended).toHaveLength(report.found.length);
    expect(liveness(root)).toBe("gone");
    expect(await endTree({ root }, { graceMs: 2000 })).toEqual({ found: [], ended: [], survivors: [] });
  });

  it("is found by its session after its root and the parents in between have ended", async () => {
    const { child, root } = await start("(sleep 302 &)\nsleep 300 &");
    child.kill("SIGKILL");
    await once(child, "exit");
    await waitUntil(
      "both programs",
      () =>
        findTree({ root })
          .map(({ command }) => command)
          .sort()
          .join() === "sleep 300,sleep 302",
      { timeoutMs: 20_000 },
    );
    expect((await endTree({ root }, { graceMs: 2000 })).ended).toHaveLength(2);
  });

  it("is found by its run id where neither parents nor session tell", async () => {
    const runId = `test${process.pid}x${Date.now()}`;
    const { child } = await start("setsid sleep 303 &", { env: { TROUPE_RUN_ID: runId } });
    await waitUntil("both", () => findTree({ runId }).length === 2, { timeoutMs: 20_000 });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(findTree({ runId }).map(({ command }) => command)).toEqual(["sleep 303"]);
    expect(findTree({ runId: runId.slice(0, -1) })).toEqual([]);
    expect((await endTree({ runId }, { graceMs: 2000 })).survivors).toEqual([]);
    expect(findTree({ runId })).toEqual([]);
  });

  it("gets a grace, and its abort cuts that short", async () => {
    const stubborn = "trap '' TERM HUP; (trap '' TERM HUP; sleep 304) &";
    const { root } = await start(stubborn);
    const hurry = new AbortController();
    const began = Date.now();
    const ending = endTree({ root }, { graceMs: 60_000, signal: hurry.signal });
    hurry.abort(new Error("hurry"));
    expect((await ending).survivors).toEqual([]);
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(liveness(root)).toBe("gone");
  });

  it("lets a stopped process hear that it is asked to end", async () => {
    const mark = path.join(temporaryDirectory(), "heard");
    const { root } = await start(
      `(trap 'echo >${mark}; exit' TERM; sh -c 'kill -STOP $PPID'; sleep 310 & wait) &`,
    );
    await waitUntil("the stop", () => findTree({ root }).some(({ pid }) => readStat(pid)?.state === "T"), {
      timeoutMs: 20_000,
    });
    expect((await endTree({ root }, { graceMs: 10_000 })).survivors).toEqual([]);
    expect(fs.existsSync(mark)).toBe(true);
  });

  it("asks whatever is born while it is given time to end, too", async () => {
    const mark = path.join(temporaryDirectory(), "heard");
    const late = `setsid env -i PATH=$PATH sh -c 'trap "echo >${mark}; exit" TERM; sleep 311 & wait' & wait`;
    const { root } = await start(`trap '${late.replaceAll("'", `'\\''`)}' TERM; sleep 312 &`);
    expect((await endTree({ root }, { graceMs: 10_000 })).survivors).toEqual([]);
    expect(fs.existsSync(mark)).toBe(true);
  });

  it("is ended while it forks without end, into sessions and environments of their own", async () => {
    const storm = "n=0; while [ $n -lt 300 ]; do n=$((n+1)); env -i setsid sleep 313.7 & done; wait";
    const { root } = await start(`trap '' TERM HUP; (${storm}) & (${storm}) &`);
    const born = () => listProcesses().filter(({ pid }) => commandOf(pid) === "sleep 313.7");
    await waitUntil("the storm", () => born().length > 20, { timeoutMs: 10_000 });
    const report = await endTree({ root }, { graceMs: 0 });
    expect(report).toMatchObject({ survivors: [], forced: true });
    expect(born()).toEqual([]);
  });

  it("holds the whole group of one that it holds", async () => {
    const runId = `group${process.pid}x${Date.now()}`;
    const { child } = await start(
      `(sleep 314 &); trap '' TERM; exec env TROUPE_RUN_ID=${runId} sh -c 'echo >mark; sleep 315 & wait'`,
    );
    const found = () => findTree({ runId }).map(({ command }) => command);
    await waitUntil("all", () => found().includes("sleep 314"), { timeoutMs: 20_000 });
    expect(findTree({ runId }).map(({ pid, leads }) => leads === (pid === child.pid))).not.toContain(false);
    expect((await endTree({ runId }, { graceMs: 0 })).survivors).toEqual([]);
    expect(found()).toEqual([]);
  });

  it("tells a root in another container as out of reach", async () => {
    const root = { ...selfIdentity(), pid: 2, pidNamespace: "pid:[1]" };
    const note = { pid: 2, command: expect.stringContaining("another container") };
    expect(await endTree({ root }, { graceMs: 0 })).toEqual({ found: [note], ended: [], survivors: [note] });
  });

  it("is killed at once by who is exiting", async () => {
    const { root } = await start("trap '' TERM; setsid sleep 316 &");
    await waitUntil("it", () => findTree({ root }).some(({ command }) => command === "sleep 316"), {
      timeoutMs: 20_000,
    });
    const members = findTree({ root });
    killTreesNow([{ root }]);
    await waitUntil("the end", () => members.every(({ identity }) => liveness(identity) === "gone"), {
      timeoutMs: 20_000,
    });
  });

  it("never holds another process with the same pid, this process, or what started it", async () => {
    const { root } = await start("sleep 305 &");
    const recycled = { ...root, startTime: `${Number(root.startTime) - 1}` };
    expect(findTree({ root: recycled })).toEqual([]);
    expect((await endTree({ root: recycled }, { graceMs: 0 })).found).toEqual([]);
    expect(liveness(root)).toBe("alive");
    const parent = identityOf(process.ppid);
    const found = findTree(parent === undefined ? {} : { root: parent }).map(({ pid }) => pid);
    expect(found).not.toContain(process.pid);
    expect(found).not.toContain(process.ppid);
    await endTree({ root }, { graceMs: 2000 });
  });

  it("does not take a session that is its looker's own", async () => {
    const script = bundleScript(path.join(import.meta.dirname, "../fixtures/own-session.ts"));
    const looker = spawn(process.execPath, [script], {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(looker);
    let printed = "";
    looker.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await once(looker, "close");
    expect(JSON.parse(printed)).toEqual(["sleep 306"]);
  });

  it("leaves alone what it keeps, with what that started, beside others in the same group", async () => {
    const runId = `keep${process.pid}x${Date.now()}`;
    const server = "sh -c 'sleep 320 & setsid sleep 321 & wait'";
    const { root } = await start(`trap '' TERM; ${server} & sleep 322 &`, { env: { TROUPE_RUN_ID: runId } });
    const commands = (found: readonly { command: string }[]) => found.map(({ command }) => command).sort();
    const all = () => findTree({ root, runId });
    await waitUntil("all", () => all().filter(({ command }) => /^sleep 32/.test(command)).length === 3, {
      timeoutMs: 20_000,
    });
    const kept = all().find(({ command }) => command.startsWith("sh -c sleep 320"));
    const keep = kept === undefined ? [] : [kept.identity];
    const spared = ["sh -c sleep 320 & setsid sleep 321 & wait", "sleep 320", "sleep 321"];
    expect(commands(findKept({ root, runId, keep }))).toEqual(spared);
    const report = await endTree({ root, runId, keep }, { graceMs: 0 });
    expect(report).toMatchObject({ survivors: [], forced: true });
    expect(commands(report.ended)).toContain("sleep 322");
    expect(commands(report.kept ?? [])).toEqual(spared);
    expect(commands([...report.found, ...report.ended]).filter((text) => spared.includes(text))).toEqual([]);
    expect(liveness(root)).toBe("gone");
    expect(commands(all())).toEqual(spared);
    expect(await endTree({ runId, keep }, { graceMs: 0 })).toMatchObject({ found: [], kept: { length: 3 } });
    expect((await endTree({ runId }, { graceMs: 2000 })).ended).toHaveLength(3);
  });

  it("has its grace, though the clock is put forward meanwhile", async () => {
    const { root } = await start("trap 'sleep 0.3; exit' TERM; sleep 300 &");
    let now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => (now += 3_600_000));
    try {
      const report = await endTree({ root }, { graceMs: 20_000 });
      expect(report).toMatchObject({ survivors: [] });
      expect(report.forced).toBeUndefined();
    } finally {
      clock.mockRestore();
    }
  });

  it("is asked to end without waiting for it", async () => {
    const { root } = await start("sleep 307 &");
    expect(signalTree({ root }, "SIGTERM")).toBe(true);
    await waitUntil("the end", () => findTree({ root }).length === 0, { timeoutMs: 20_000 });
    expect(signalTree({ root }, "SIGTERM")).toBe(false);
  });

  it("shows commands that hold escape sequences as plain text", async () => {
    const { root } = await start(
      "sleep 308 '\u001b[31m' 2>/dev/null & sh -c 'sleep 309' '\u001b]0;x\u0007' &",
    );
    await waitUntil("it", () => findTree({ root }).some(({ command }) => command.includes("309")), {
      timeoutMs: 20_000,
    });
    expect(findTree({ root }).filter(({ command }) => /[\u0000-\u001f]/.test(command))).toEqual([]);
    await endTree({ root }, { graceMs: 2000 });
  });
});
