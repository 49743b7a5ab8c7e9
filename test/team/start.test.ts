import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { TeamEvent } from "../../src/team/events.js";
import { isRunning } from "../../src/team/locate.js";
import { teamDirName, teamPaths } from "../../src/team/paths.js";
import { readHostRecord, readMember } from "../../src/team/records.js";
import { type StartRequest, startTeam } from "../../src/team/start.js";
import type { TeamFile } from "../../src/team/team-file/schema.js";
import { waitUntil } from "../../src/util/wait.js";
import { type MadeHome, makeHome } from "../cli/made-team.js";
import { type Reply, startMessagesServer } from "../helpers/messages-server.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
  const { root } = made;
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
});

/** Starts a team in this process, with a guard that is no troupe and ends at once; it ends with the test. */
async function start(file: Partial<TeamFile>, env: Record<string, string> = {}, troupe = "/bin/true") {
  const request: StartRequest = {
    file: { name: "demo", teammates: [], ...file },
    home: made.home,
    projectRoot: made.project,
    backend: { type: "in-process", reason: "test" },
    model: "test-model",
    troupe: [troupe],
  };
  const events: TeamEvent[] = [];
  const team = await startTeam(request, {
    env: { PATH: process.env["PATH"], HOME: made.root, ...env },
    onEvent: (event) => void events.push(event),
    signal: new AbortController().signal,
  });
  onTestFinished(async () => {
    await team.host.down({ timeoutMs: 1_000 });
    await team.host.closed;
  });
  return { ...team, events };
}

/** A model on loopback, as the environment names it. */
async function model(turn: Reply | { status: number }): Promise<Record<string, string>> {
  const server = await startMessagesServer({ turns: () => turn });
  onTestFinished(() => server.close());
  return { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-test" };
}

const agents: Partial<TeamFile> = {
  lead: { agent: "Explore", prompt: "Lead." },
  teammates: [
    { name: "ada", agent: "Explore", prompt: "Help." },
    { name: "bob", agent: "Explore", prompt: "Help." },
  ],
};

describe("a team in this process", () => {
  it("works, is done, and ends with its socket, its lock and its record", async () => {
    const { host, paths, events } = await start(agents, await model({ text: "Done." }));
    expect(isRunning(paths)).toBe(true);
    await host.start();
    expect(await host.done(AbortSignal.timeout(25_000))).toEqual({ failed: [], text: "Done." });
    const reports = await host.down();
    expect(reports.map(({ name, how }) => [name, how])).toEqual([
      ["ada", "asked"],
      ["bob", "asked"],
      ["lead", "asked"],
    ]);
    expect(await host.down()).toBe(reports);
    await host.closed;
    expect(isRunning(paths)).toBe(false);
    expect(fs.existsSync(paths.socket)).toBe(false);
    expect(readHostRecord(paths)?.endedAt).toBeDefined();
    expect(readMember(paths, "ada")).toMatchObject({ state: "ended", reason: "completed" });
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["team-started", "member-joined", "mail", "member-ended", "team-ended"]),
    );
  });

  it("is done, and says who failed, where no server takes the key", async () => {
    const { host } = await start(agents, await model({ status: 401 }));
    await host.start();
    const { failed } = await host.done(AbortSignal.timeout(25_000));
    expect([...failed].sort()).toEqual(["ada", "bob", "lead"]);
  });

  it("tells of a member that cannot start, and goes on with the others", async () => {
    const { host, paths, events } = await start({
      teammates: [
        { name: "broken", command: ["/no/such/program"] },
        { name: "ok", command: "echo done" },
      ],
    });
    await host.start();
    expect(readMember(paths, "broken")).toMatchObject({ state: "ended", reason: "failed" });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "notice", level: "warning", name: "broken" }),
    );
    await waitUntil("ok", () => readMember(paths, "ok")?.state === "ended", { timeoutMs: 20_000 });
    expect(readMember(paths, "ok")).toMatchObject({ reason: "completed", exit: { exitCode: 0 } });
    expect((await host.done(AbortSignal.timeout(20_000))).failed).toEqual(["broken"]);
    await host.lastEnded(AbortSignal.timeout(20_000));
  });
});

describe("a team whose guard cannot be started", () => {
  it("says so, and runs all the same", async () => {
    const { host, events } = await start(
      { teammates: [{ name: "a", command: "sleep 60" }] },
      {},
      "/no/troupe",
    );
    await waitUntil(
      "the warning",
      () => events.some((event) => event.type === "notice" && event.text.includes("no guard")),
      { timeoutMs: 10_000 },
    );
    await host.start();
    expect(await host.down()).toHaveLength(1);
  });
});

describe("a start that is refused", () => {
  it.each([
    ["a directory that is not there", { teammates: [{ name: "a", command: "x", cwd: "none" }] }, "no-cwd"],
    ["an unknown agent", { teammates: [{ name: "a", agent: "nobody" }] }, "agent-type-unknown"],
    ["no key", { teammates: [{ name: "a", agent: "Explore" }] }, "no-key"],
    ["a bad name", { teammates: [{ name: "user", command: "x" }] }, "bad-name"],
  ])("for %s leaves nothing", async (_, file, code) => {
    await expect(start(file)).rejects.toMatchObject({ code, kind: "usage" });
    expect(fs.readdirSync(made.home)).toEqual([]);
  });

  it("because the team runs changes nothing", async () => {
    const file = { teammates: [{ name: "a", command: "sleep 60" }] };
    const { paths } = await start(file);
    await expect(start(file)).rejects.toMatchObject({ code: "team-runs" });
    expect(isRunning(paths)).toBe(true);
    expect(fs.existsSync(path.join(made.home, "teams/.archive"))).toBe(false);
  });

  it("because its host cannot listen leaves nothing", async () => {
    made = { ...made, home: path.join(made.home, "h".repeat(100)) };
    const { sockets, socket, root } = teamPaths(made.home, teamDirName("demo", made.project));
    onTestFinished(() => fs.rmSync(sockets, { recursive: true, force: true }));
    fs.mkdirSync(`${socket}/in the way`, { recursive: true, mode: 0o700 });
    await expect(start({ teammates: [{ name: "a", command: "sleep 60" }] })).rejects.toThrow();
    expect(fs.existsSync(root)).toBe(false);
  });
});
