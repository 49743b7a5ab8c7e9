import fs from "node:fs";
import path from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import type { TeamPaths } from "../../src/team/paths.js";
import { writeRecord } from "../../src/team/records.js";
import { identityOf } from "../../src/util/process-identity.js";
import { type MadeHome, makeHome, makeTeam } from "./made-team.js";
import { runLine } from "./run-line.js";

let made: MadeHome;
let paths: TeamPaths;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, { name: "demo" });
});

const troupe = (...argv: readonly string[]) =>
  runLine(argv, { cwd: made.project, env: { TROUPE_HOME: made.home } });

async function hostDied(): Promise<void> {
  onTestFinished(() => fs.rmSync(made.root, { recursive: true, force: true }));
  const dead = { pid: 4_194_304, startTime: "1", bootId: "another", pidNamespace: "x" };
  const startedAt = new Date().toISOString();
  await writeRecord(paths.hostRecord, { v: 1, version: "0", process: dead, publicKey: "", startedAt });
  fs.writeFileSync(path.join(paths.members, ".a\u001b[31m.1.1.tmp"), "");
}

it("shows what it would end, ends it, and then has nothing to do", async () => {
  await hostDied();
  const dry = await troupe("clean", "--dry-run");
  expect(dry).toMatchObject({ exitCode: 0, stderr: "" });
  expect(dry.stdout).toMatch(
    /^TEAM {9}WHAT {4}NOW {4}WHICH\n(demo-\w+ {2}(file {4}|record {2})found {2}.*\n){2}$/,
  );
  expect(dry.stdout).not.toContain("\u001b");
  const { stdout, exitCode } = await troupe("clean", "--team", "demo", "--json");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    items: [{ outcome: "ended" }, { outcome: "ended" }],
    skipped: [],
  });
  expect(await troupe("clean")).toEqual({ exitCode: 0, stdout: "nothing to do\n", stderr: "" });
  expect(await troupe("clean", "--team", "other")).toMatchObject({ exitCode: 4, error: { code: "no-team" } });
});

it("tells of a damaged team with what to do; other commands pass it over and say so", async () => {
  await hostDied();
  const bad = path.join(made.home, "teams", "bad-abcdef");
  fs.mkdirSync(bad);
  fs.writeFileSync(path.join(bad, "team.json"), "{");
  const { stdout, exitCode } = await troupe("clean");
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^not looked into: bad-abcdef: .*team\.json is not JSON\n {2}move it away/m);
  expect(await troupe("clean")).toMatchObject({ exitCode: 1, stdout: expect.not.stringMatching("nothing") });
  const status = await troupe("status");
  expect(status).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^demo/) });
  expect(status.stderr).toMatch(
    /^troupe: .*bad-abcdef\/team\.json is not JSON: passed over; troupe clean says/,
  );
  expect((await troupe("status", "--team", "bad-abcdef")).error).toMatchObject({ code: "bad-record" });
});

it("is refused to a teammate, for other teams as for its own, as down and stop are", async () => {
  await hostDied();
  await makeTeam(made, { name: "own", members: [{ name: "ada", process: identityOf(process.ppid)! }] });
  for (const line of ["clean", "clean --team demo", "down --team demo", "stop bob --team demo"])
    expect((await troupe(...line.split(" "))).error, line).toMatchObject({ code: "from-teammate" });
});
