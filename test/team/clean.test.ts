import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runIdOf } from "../../backends/index.js";
import { type CleanReport, cleanHome } from "../../src/team/clean.js";
import { memberRunDir, type TeamPaths } from "../../src/team/paths.js";
import {
  memberFile,
  readHostRecord,
  readMember,
  readTeamRecord,
  writeRecord,
} from "../../src/team/records.js";
import { tmuxLockDir } from "../../src/team/tmux-remains.js";
import { isHeld, readLock, tryLock } from "../../src/util/lock.js";
import { identityOf, liveness, type ProcessIdentity, selfIdentity } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { type MadeHome, makeHome, makeTeam } from "../cli/made-team.js";

function setUp(): MadeHome {
  const made = makeHome();
  onTestFinished(() => fs.rmSync(made.root, { recursive: true, force: true }));
  return made;
}

const clean = ({ home }: MadeHome, more: { team?: string; dryRun?: boolean } = {}) =>
  cleanHome({ home, env: {}, dryRun: false, ...more });

const short = ({ items }: CleanReport) => items.map(({ kind, outcome }) => `${kind} ${outcome}`);

/** A team whose host ended `daysAgo`, or died. */
async function makeEnded(made: MadeHome, name: string, daysAgo?: number): Promise<TeamPaths> {
  const paths = await makeTeam(made, { name, members: [{ name: "ada", process: deadProcess }] });
  const at = new Date(Date.now() - (daysAgo ?? 0) * 86_400_000).toISOString();
  const host = { v: 1, version: "0", process: deadProcess, publicKey: "", startedAt: at } as const;
  await writeRecord(paths.hostRecord, daysAgo === undefined ? host : { ...host, endedAt: at });
  return paths;
}

/** Lets a team's record say that it is in tmux, with a pane of ada's on a server that runs: this process. */
async function onServer(paths: TeamPaths, socket: string): Promise<void> {
  const record = readTeamRecord(paths);
  await writeRecord(paths.teamRecord, { ...record, backend: { type: "tmux", reason: "test" } });
  const { ref: _ref, ...ada } = readMember(paths, "ada")!;
  const runDir = memberRunDir(paths, ada.incarnation);
  const server = { socket, process: selfIdentity() };
  const ref = { backend: "tmux", agentId: ada.agentId, runDir, server, pane: "%1", window: "@1" } as const;
  await writeRecord(memberFile(paths, "ada"), { ...ada, ref });
}

const deadProcess: ProcessIdentity = { pid: 4_194_304, startTime: "1", bootId: "another", pidNamespace: "x" };

/** Starts a program with a teammate's marks, in a session of its own. */
async function startMarked(home: string, dirName: string, runId: string): Promise<ProcessIdentity> {
  const child = spawn("sleep", ["300"], {
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"], TROUPE_HOME: home, TROUPE_TEAM: dirName, TROUPE_RUN_ID: runId },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return waitUntil("the program", () => identityOf(child.pid ?? 0), { timeoutMs: 5_000 });
}

const write = (file: string, ageMs = 0): string => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "");
  const then = new Date(Date.now() - ageMs);
  fs.utimesSync(file, then, then);
  return file;
};

it("finds nothing to do where there is no home", async () => {
  const made = setUp();
  expect(await cleanHome({ home: path.join(made.root, "none"), env: {}, dryRun: false })).toEqual({
    items: [],
    skipped: [],
  });
});

it("removes what a start or a write broken off has left, and keeps what may still be written", async () => {
  const made = setUp();
  const paths = await makeEnded(made, "demo");
  const runDir = memberRunDir(paths, readMember(paths, "ada")!.incarnation);
  const [script, half, socket] = [
    write(path.join(runDir, "launch.sh")),
    write(path.join(paths.members, ".ada.json.4194304.1.tmp")),
    write(paths.socket),
  ];
  const draft = write(path.join(paths.mail, "ada", "tmp", "fresh"));
  const dry = await clean(made, { dryRun: true });
  expect(dry.items.map(({ what }) => what)).toEqual(expect.arrayContaining([script, half, socket]));
  expect(dry.items.map(({ what }) => what)).not.toContain(draft);
  expect([script, half, socket].map((file) => fs.existsSync(file))).toEqual([true, true, true]);
  expect(readHostRecord(paths)?.endedAt).toBeUndefined();

  expect(short(await clean(made)).sort()).toEqual([
    "file ended",
    "file ended",
    "record ended",
    "socket ended",
  ]);
  expect([script, half, socket, draft].map((file) => fs.existsSync(file))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  expect(readMember(paths, "ada")).toMatchObject({ state: "ended", reason: "lost" });
  expect(await clean(made)).toEqual({ items: [], skipped: [] });
});

it("removes what stands in the place of such files, whatever it is", async () => {
  const made = setUp();
  const paths = await makeEnded(made, "demo");
  const script = path.join(memberRunDir(paths, readMember(paths, "ada")!.incarnation), "launch.sh");
  const half = path.join(paths.members, ".ada.json.4194304.1.tmp");
  for (const dir of [script, half]) write(path.join(dir, "inside"));
  expect(short(await clean(made)).sort()).toEqual(["file ended", "file ended", "record ended"]);
  expect([script, half].map((dir) => fs.existsSync(dir))).toEqual([false, false]);
});

it("ends strays of earlier incarnations and of teams whose files are gone, and nothing of anybody else", async () => {
  const made = setUp();
  const paths = await makeEnded(made, "demo", 0);
  const [earlier, orphan, elsewhere, another] = await Promise.all([
    startMarked(made.home, paths.dirName, runIdOf(memberRunDir(paths, "01234567"))),
    startMarked(made.home, "gone-abcdef", "0123456789abcdef"),
    startMarked(path.join(made.root, "other"), paths.dirName, "1123456789abcdef"),
    startMarked(made.home, "not a team", "2123456789abcdef"),
  ]);
  const only = await clean(made, { team: "gone-abcdef", dryRun: true });
  expect(only.items).toMatchObject([{ team: "gone-abcdef", kind: "process", outcome: "found" }]);
  expect(short(await clean(made))).toEqual(["process ended", "process ended"]);
  expect([earlier, orphan].map(liveness)).toEqual(["gone", "gone"]);
  expect([elsewhere, another].map(liveness)).toEqual(["alive", "alive"]);
});

it("spares a team that a host holds", async () => {
  const made = setUp();
  const paths = await makeEnded(made, "demo");
  const script = write(path.join(memberRunDir(paths, "01234567"), "launch.sh"));
  const stray = await startMarked(made.home, paths.dirName, "0123456789abcdef");
  const lock = await tryLock(paths.lock);
  expect(await clean(made)).toEqual({ items: [], skipped: [] });
  expect(fs.existsSync(script)).toBe(true);
  expect(liveness(stray)).toBe("alive");
  lock?.release();
  expect((await clean(made)).items.length).toBe(3);
});

it("removes locks of starts of teams, and of tmux servers, that are gone, unless somebody holds them", async () => {
  const made = setUp();
  const paths = await makeEnded(made, "demo", 0);
  const locks = path.join(made.home, "locks");
  // A server on which the team still has a record of a pane, and lives.
  const socket = path.join(made.root, "s");
  const used = path.basename(tmuxLockDir(made.home, socket));
  await onServer(paths, socket);
  for (const name of ["start-gone-abcdef", `start-${paths.dirName}`, "tmux-abcdef", used])
    (await tryLock(path.join(locks, name)))?.release();
  const held = [
    await tryLock(path.join(locks, "start-held-abcdef")),
    await tryLock(path.join(locks, "tmux-held")),
  ];
  expect(short(await clean(made))).toEqual(["lock ended", "lock ended"]);
  expect(fs.readdirSync(locks).sort()).toEqual(
    [`start-${paths.dirName}`, "start-held-abcdef", "tmux-held", used].sort(),
  );
  expect(isHeld(readLock(path.join(locks, "tmux-held"))!)).toBe(true);
  for (const lock of held) lock?.release();
  expect((await clean(made)).items.map(({ what }) => path.basename(what))).toEqual([
    "start-held-abcdef",
    "tmux-held",
  ]);
});

it("removes ended teams of single tasks after the time of the archive, and no others", async () => {
  const made = setUp();
  const [old, fresh, named] = [
    await makeEnded(made, "task-01ab", 15),
    await makeEnded(made, "task-02ab", 13),
    await makeEnded(made, "mine", 15),
  ];
  expect(short(await clean(made, { dryRun: true }))).toEqual(["team found"]);
  expect(short(await clean(made))).toEqual(["team ended"]);
  expect([old, fresh, named].map(({ root }) => fs.existsSync(root))).toEqual([false, true, true]);
});

it("tells of a team whose record is damaged, with what to do, and sees to the others", async () => {
  const made = setUp();
  const [bad, worse, good] = [
    await makeEnded(made, "bad"),
    await makeEnded(made, "worse"),
    await makeEnded(made, "good"),
  ];
  fs.writeFileSync(bad.teamRecord, "{");
  fs.writeFileSync(path.join(worse.members, "ada.json"), "{");
  const report = await clean(made);
  expect(report.items).toMatchObject([{ team: good.dirName, kind: "record", outcome: "ended" }]);
  expect(report.skipped).toMatchObject([
    {
      what: bad.dirName,
      reason: expect.stringContaining("is not JSON"),
      remedy: expect.stringMatching(/move/),
    },
    {
      what: worse.dirName,
      reason: expect.stringContaining("ada.json"),
      remedy: expect.stringMatching(/move/),
    },
  ]);
});

it("refuses a team that there is not", async () => {
  await expect(clean(setUp(), { team: "nobody" })).rejects.toMatchObject({
    code: "no-team",
    kind: "not-found",
  });
});
