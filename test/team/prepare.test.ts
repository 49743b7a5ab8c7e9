import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openMailbox } from "../../mailbox/index.js";
import { isRunning } from "../../src/team/locate.js";
import { type TeamPaths, teamDirName, teamPaths } from "../../src/team/paths.js";
import { prepareTeam, undoPrepare } from "../../src/team/prepare.js";
import { readMembers, readTeamRecord, writeRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { tryLock } from "../../src/util/lock.js";
import { identityOf, selfIdentity } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { type MadeHome, makeHome, makeTeam } from "../cli/made-team.js";
import { bundleScript } from "../helpers/bundle.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
  const { root } = made;
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
});

function prepare(options: { home?: string; name?: string; troupe?: string[] } = {}) {
  const { home = made.home, name = "Demo", troupe = ["troupe"] } = options;
  return prepareTeam({
    home,
    name,
    projectRoot: made.project,
    lead: "user",
    backend: { type: "in-process", reason: "test" },
    troupe,
  });
}

const pathsOf = (name: string, home = made.home): TeamPaths =>
  teamPaths(home, teamDirName(name, made.project));

/** An ended team of this name, with a file of its own. */
async function endedTeam(name = "Demo"): Promise<TeamPaths> {
  const paths = await makeTeam(made, { name });
  fs.writeFileSync(path.join(paths.root, "mark"), name);
  return paths;
}

const archives = () => {
  const dir = path.join(made.home, "teams/.archive");
  return fs.existsSync(dir) ? fs.readdirSync(dir).map((name) => path.join(dir, name)) : [];
};

describe("prepareTeam", () => {
  it("makes a team whose host this process is, for its owner alone", async () => {
    const { paths, record, lock, archived } = await prepare();
    expect(isRunning(paths)).toBe(true);
    expect(readTeamRecord(paths)).toEqual(record);
    expect(record).toMatchObject({ v: 1, name: "Demo", projectRoot: made.project, lead: "user" });
    expect(readMembers(paths)).toMatchObject([
      { name: "user", kind: "user", order: 0, agentId: "user@Demo" },
    ]);
    expect(openMailbox(mailboxOf(paths, "user")).counts().new).toBe(0);
    expect(archived).toBeUndefined();
    const modes = execFileSync("find", [made.home, "-printf", "%y%m\n"], { encoding: "utf8" });
    expect([...new Set(modes.trim().split("\n"))].sort()).toEqual(["d700", "f600", "f700"]);
    lock.release();
    expect(isRunning(paths)).toBe(false);
  });

  it("puts a troupe for teammates in its place that is the one given, whatever its words", async () => {
    const words = ["printf", "[%s]", "it's", "$HOME `x` \\", "two  words", ""];
    const { paths } = await prepare({ troupe: words });
    const shim = path.join(paths.bin, "troupe");
    expect(execFileSync(shim, ["a b"], { encoding: "utf8" })).toBe("[it's][$HOME `x` \\][two  words][][a b]");
  });

  it("refuses a team that runs, without touching it", async () => {
    const { paths } = await prepare();
    await expect(prepare({ name: "DEMO" })).rejects.toMatchObject({
      code: "team-runs",
      remedy: expect.stringContaining(`troupe down --team ${paths.dirName}`),
    });
    expect(isRunning(paths)).toBe(true);
    expect(archives()).toEqual([]);
  });

  it("archives an ended team of the same name, whole", async () => {
    const { root } = await endedTeam();
    const { archived } = await prepare();
    expect(archives()).toEqual([archived?.dir]);
    expect(fs.readFileSync(path.join(archived!.dir, "mark"), "utf8")).toBe("Demo");
    expect(archived?.dir).toMatch(/\/demo-[0-9a-f]{6}-\d{4}-\d\d-\d\dT[\d-]+Z$/);
    expect(fs.existsSync(path.join(root, "mark"))).toBe(false);
  });

  it("keeps archives for 14 days from when they were archived", async () => {
    const days = (n: number) => new Date(Date.now() - n * 86_400_000);
    const [old, recent] = ["old-000000-x", "recent-000000-x"].map((name) =>
      path.join(made.home, "teams/.archive", name),
    );
    for (const dir of [old!, recent!]) fs.mkdirSync(path.join(dir, "run"), { recursive: true });
    fs.utimesSync(old!, days(15), days(15));
    fs.utimesSync(recent!, days(13), days(13));
    const { root } = await endedTeam();
    fs.utimesSync(root, days(30), days(30));
    const { archived } = await prepare();
    expect(archives().sort()).toEqual([archived!.dir, recent].sort());
  });

  it("refuses to forget members that still run without a host", async () => {
    const paths = await endedTeam();
    const child = spawn("sleep", ["60"]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const process = await waitUntil("sleep", () => identityOf(child.pid!), { timeoutMs: 5_000 });
    const [user] = readMembers(paths);
    await writeRecord(path.join(paths.members, "ada.json"), { ...user!, name: "ada", order: 1, process });
    await expect(prepare()).rejects.toMatchObject({
      code: "members-left",
      message: expect.stringContaining("ada still run"),
      remedy: `end them first: troupe down --team ${paths.dirName}`,
    });
    expect(fs.existsSync(path.join(paths.root, "mark"))).toBe(true);
    const startedAt = new Date().toISOString();
    const host = { v: 1, version: "0", process: selfIdentity(), publicKey: "", startedAt } as const;
    await writeRecord(paths.hostRecord, { ...host, endedAt: startedAt });
    expect((await prepare()).archived).toBeDefined();
  });
});

describe("a start that fails", () => {
  it("leaves nothing, and gives the archive back its place, ready for the next", async () => {
    const paths = await endedTeam();
    const prepared = await prepare();
    await undoPrepare(prepared);
    expect(fs.readFileSync(path.join(paths.root, "mark"), "utf8")).toBe("Demo");
    expect(archives()).toEqual([]);
    expect(isRunning(paths)).toBe(false);
    const again = await prepare();
    await undoPrepare(again);
    const fresh = await prepare({ name: "fresh" });
    await undoPrepare(fresh);
    expect(fs.existsSync(fresh.paths.root)).toBe(false);
  });

  it("in the middle leaves nothing either", async () => {
    const paths = await endedTeam();
    // The person's key cannot be made here.
    fs.rmSync(path.join(made.home, "keys"), { recursive: true });
    fs.writeFileSync(path.join(made.home, "keys"), "");
    await expect(prepare()).rejects.toMatchObject({ code: expect.stringMatching(/key|home/) });
    await expect(prepare({ name: "fresh" })).rejects.toThrow();
    expect(fs.readFileSync(path.join(paths.root, "mark"), "utf8")).toBe("Demo");
    expect(fs.readdirSync(path.join(made.home, "teams")).sort()).toEqual([".archive", paths.dirName]);
    expect(archives()).toEqual([]);
    expect(isRunning(paths)).toBe(false);
  });

  it("says that TROUPE_HOME is none", async () => {
    const file = path.join(made.root, "file");
    fs.writeFileSync(file, "");
    await expect(prepare({ home: file })).rejects.toMatchObject({ code: "bad-home" });
  });
});

describe("sockets of a team with a long path", () => {
  /** A home so long that sockets go elsewhere; both are removed after the test. */
  function longHome(): { home: string; sockets: string } {
    const home = path.join(made.home, "h".repeat(100));
    const { sockets } = pathsOf("Demo", home);
    fs.mkdirSync(path.dirname(sockets), { recursive: true, mode: 0o700 });
    onTestFinished(() => fs.rmSync(sockets, { recursive: true, force: true }));
    return { home, sockets };
  }

  it("are in a short directory that only its owner may enter", async () => {
    const { home, sockets } = longHome();
    expect((await prepare({ home })).paths.sockets).toBe(sockets);
    expect(fs.statSync(sockets).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["that others may enter", (dir: string) => fs.mkdirSync(dir) ?? fs.chmodSync(dir, 0o755)],
    ["that is a link", (dir: string) => fs.symlinkSync(made.project, dir)],
    ...(process.getuid?.() === 0
      ? [
          [
            "of somebody else",
            (dir: string) => fs.mkdirSync(dir, 0o700) ?? fs.chownSync(dir, 65534, 65534),
          ] as const,
        ]
      : []),
  ] as const)("are never put into a directory %s; nothing is left", async (_, occupy) => {
    const { home, sockets } = longHome();
    occupy(sockets);
    await expect(prepare({ home })).rejects.toMatchObject({
      code: "unsafe-directory",
      message: expect.stringContaining(sockets),
    });
    expect(fs.readdirSync(path.join(home, "teams"))).toEqual([]);
  });
});

describe("starters at once", () => {
  it("in one process: one wins, and nothing of the earlier team is lost", async () => {
    for (let round = 0; round < 10; round++) {
      const name = `r${round}`;
      if (round % 2 === 0) await endedTeam(name);
      const results = await Promise.allSettled([1, 2, 3].map(() => prepare({ name })));
      const codes = results.map((result) => (result.status === "fulfilled" ? "won" : result.reason.code));
      expect(codes.sort()).toEqual(["team-runs", "team-runs", "won"]);
      expect(isRunning(pathsOf(name))).toBe(true);
      expect(readTeamRecord(pathsOf(name)).name).toBe(name);
    }
    const marks = archives().map((dir) => fs.readFileSync(path.join(dir, "mark"), "utf8"));
    expect(marks.sort()).toEqual(["r0", "r2", "r4", "r6", "r8"]);
  });

  it("in several processes: one wins", async () => {
    const rounds = 12;
    for (let round = 0; round < rounds; round += 2) await endedTeam(`r${round}`);
    const script = bundleScript(path.join(import.meta.dirname, "processes/starter.ts"));
    const start = Date.now() + 1500;
    const said: string[] = [];
    const children = [1, 2, 3].map(() => {
      const args = [script, made.home, made.project, String(start), String(rounds)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      child.stdout.setEncoding("utf8").on("data", (text: string) => said.push(...text.trim().split("\n")));
      return child;
    });
    const ends = children.map((child) => once(child, "close"));
    try {
      await waitUntil("the rounds", () => said.filter((line) => line === "over").length === 3, {
        timeoutMs: 25_000,
      });
    } finally {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(ends);
    }
    for (let round = 0; round < rounds; round++) {
      const results = said.filter((line) => line.startsWith(`r${round} `)).map((line) => line.split(" ")[1]);
      expect(results.sort()).toEqual(["team-runs", "team-runs", "won"]);
    }
    expect(archives()).toHaveLength(rounds / 2);
  });

  it("is refused while another process ends what an earlier host left", async () => {
    const paths = await endedTeam();
    const lock = await tryLock(paths.lock);
    await expect(prepare()).rejects.toMatchObject({ code: "team-runs" });
    lock?.release();
    await prepare();
  });
});
