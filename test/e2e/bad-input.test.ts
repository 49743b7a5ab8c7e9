import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import type { Finished } from "../helpers/running.js";
import { startProgram } from "../helpers/running.js";

const plain = "name: t\nteammates:\n  - name: a\n    command: sleep 4321\n";
const agent = (fields: string): string => `name: t\nteammates:\n  - name: a\n    ${fields}\n`;

/** One line of what is wrong on stderr, perhaps one of what to do; nothing on stdout, nothing begun. */
function expectRefused(
  place: Place,
  { code, stdout, stderr }: Finished,
  exitCode: number,
  line: RegExp,
): void {
  const [first = "", ...rest] = stderr.trimEnd().split("\n");
  expect(first).toMatch(line);
  expect(first).toMatch(/^troupe: /);
  expect(rest.length, stderr).toBeLessThanOrEqual(1);
  for (const remedy of rest) expect(remedy).toMatch(/^ {2}\S/);
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
  const teams = path.join(place.home, "teams");
  expect(fs.existsSync(teams) ? fs.readdirSync(teams) : []).toEqual([]);
  expect(processesOf(place.home)).toEqual([]);
}

test("a team file that is wrong is told with line and column", async () => {
  const place = await makePlace();
  const table: readonly (readonly [name: string, text: string, line: RegExp])[] = [
    ["unknown field", `${plain}    promt: x\n`, /team\.yaml:5:5: unknown field promt; did you mean prompt\?/],
    [
      "unknown field of the team",
      `nmae: x\n${plain}`,
      /team\.yaml:1:1: unknown field nmae; did you mean name\?/,
    ],
    [
      "same names",
      `${plain}  - name: A\n    command: "true"\n`,
      /team\.yaml:5:11: A and a are the same name/,
    ],
    ["bad name", plain.replace("name: a", "name: a b"), /team\.yaml:3:11: teammate name "a b": .*a-b/],
    ["reserved name", plain.replace("name: a", "name: user"), /team\.yaml:3:11: .*reserved/],
    ["bad team name", plain.replace("name: t", "name: ../t"), /team\.yaml:1:7: team name/],
    [
      "neither agent nor command",
      "name: t\nteammates:\n  - name: a\n",
      /team\.yaml:3:5: .*one of agent and command/,
    ],
    ["not YAML", "name: [t\n", /team\.yaml:\d+:\d+: /],
    ["empty", "", /team\.yaml:1:1: /],
    ["wrong type", plain.replace("sleep 4321", "{}"), /team\.yaml:4:14: teammates\.0\.command/],
    ["no such directory", `${plain}    cwd: nowhere\n`, /a: the working directory .*nowhere does not exist/],
    ["unknown agent type", agent("agent: Exploer"), /Exploer/],
    ["no key", agent("agent: Explore"), /embedded agents need a key or a base URL, and neither is set/],
    [
      "no script",
      `${agent("agent: Explore")}model: offline\nmodelScript: none.yaml\n`,
      /the script .*none\.yaml cannot be read/,
    ],
  ];
  for (const [name, text, line] of table) {
    place.write("team.yaml", text);
    const finished = await place.troupe(["run", "team.yaml"]);
    expect(finished.stderr, name).not.toBe("");
    expectRefused(place, finished, 2, line);
  }
});

test("a model script that is wrong is told with line and column", async () => {
  const place = await makePlace();
  place.write("team.yaml", agent("agent: Explore"));
  place.write("model.yaml", 'version: 1\nagents:\n  a:\n    - txt: "hello"\n');
  const args = ["team.yaml", "--model", "offline", "--model-script", "model.yaml"];
  expectRefused(place, await place.troupe(["run", ...args]), 2, /model\.yaml:4:\d+: .*txt/);
  expectRefused(place, await place.troupe(["up", "-d", ...args]), 2, /model\.yaml:4:\d+: .*txt/);
  expectRefused(place, await place.troupe(["up", ...args]), 2, /model\.yaml:4:\d+: .*txt/);
});

test("a team file that is not there, and up without one", async () => {
  const place = await makePlace();
  expectRefused(
    place,
    await place.troupe(["run", "none.yaml"]),
    2,
    /team file none\.yaml: there is no such file/,
  );
  expectRefused(place, await place.troupe(["up", "none.yaml"]), 2, /none\.yaml/);
  const bare = await place.troupe(["up"]);
  expect(bare).toMatchObject({ code: 2, stdout: "" });
  expect(bare.stderr.match(/^ +troupe .*/gm)).toHaveLength(3);
});

test("a backend that cannot be had is refused with what mends it", async () => {
  const place = await makePlace();
  place.write("team.yaml", plain);
  const bin = path.join(place.project, "bin");
  fs.mkdirSync(bin);
  for (const name of ["sh", "git", "sleep"])
    fs.symlinkSync(
      execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(),
      path.join(bin, name),
    );
  const without = { env: { PATH: bin, TROUPE_TMUX: "" } };
  for (const command of ["run", "up"]) {
    const refused = await place.troupe([command, "team.yaml", "--backend", "tmux"], without);
    expectRefused(place, refused, 5, /the tmux backend cannot be used/);
    expect(refused.stderr).toMatch(/install/);
  }
  expectRefused(
    place,
    await place.troupe(["run", "team.yaml", "--backend", "iterm2"]),
    5,
    /the iterm2 backend cannot be used/,
  );
  expectRefused(
    place,
    await place.troupe(["run", "team.yaml", "--backend", "screen"]),
    2,
    /--backend "screen" is not one of/,
  );
});

test("a TROUPE_HOME that cannot be used is named", async () => {
  const place = await makePlace();
  place.write("team.yaml", plain);
  const file = place.write("a-file", "");
  for (const home of [file, path.join(file, "below"), "/proc/troupe", "/sys/troupe"])
    for (const args of home === file ? [["run"], ["up", "-d"], ["up"]] : [["run"]]) {
      const { code, stdout, stderr } = await place.troupe([...args, "team.yaml"], {
        env: { TROUPE_HOME: home },
      });
      expect(stderr).toContain(home);
      expect(stderr).toMatch(/^troupe: [^\n]*\n( {2}[^\n]*\n)?$/);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(processesOf(home)).toEqual([]);
    }
  expect(fs.readFileSync(file, "utf8")).toBe("");
});

test("a team that runs already is not started again, and goes on", async () => {
  const place = await makePlace();
  writeGateTeam(place);
  expect(await place.troupe(["up", "team.yaml", "-d", "--backend", "in-process"])).toMatchObject({ code: 0 });
  for (const again of [
    ["run", "team.yaml"],
    ["up", "team.yaml", "-d"],
    ["up", "team.yaml", "--backend", "tmux"],
  ])
    expect(await place.troupe(again)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^troupe: the team gate-\w+ runs already \(host process \d+\)\n {2}.*troupe down.*\n$/,
      ),
    });
  expect(await place.troupe(["send", "idler", "hello", "--wait", "replied"])).toMatchObject({ code: 0 });

  const table: readonly (readonly [args: readonly string[], code: number, line: RegExp])[] = [
    [["send", "idlr", "hello"], 4, /idlr.*\n?.*idler/],
    [["stop", "idlr"], 4, /idlr/],
    [["status", "idlr"], 4, /idlr/],
    [["logs", "idlr"], 4, /idlr/],
    [["inbox", "idlr"], 4, /idlr/],
    [["spawn", "a b", "--", "true"], 2, /"a b"/],
    [["spawn", "x", "--", "no-such-program"], 1, /no-such-program/],
    [["spawn", "y", "--agent", "Exploer", "look"], 2, /Exploer/],
    [["stop", "user"], 2, /you/],
    [["status", "--team", "other"], 4, /other/],
  ];
  for (const [args, code, line] of table) {
    const finished = await place.troupe(args);
    expect({ args, code: finished.code, stdout: finished.stdout }).toEqual({ args, code, stdout: "" });
    expect(finished.stderr).toMatch(/^troupe: [^\n]*\n( {2}[^\n]*\n)?$/);
    expect(finished.stderr).toMatch(line);
  }
  expect(await place.troupe(["down", "--timeout", "0s"])).toMatchObject({ code: 0 });
});

test("wrong usage is exit code 2 and one line", async () => {
  const place = await makePlace();
  place.write("team.yaml", plain);
  const table: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [["stauts"], /stauts.*|status/],
    [["status", "--jsn"], /--?jsn/],
    [["send"], /TO is missing/],
    [["run"], /WHAT is missing/],
    [["run", "team.yaml", "--timeout", "soon"], /--timeout "soon" is not a time/],
    [["status", "a", "b"], /one argument too many/],
  ];
  for (const [args, line] of table) expectRefused(place, await place.troupe(args), 2, line);
  expectRefused(place, await place.troupe(["status"]), 4, /no team/i);
});

test("the demo refuses a directory that is no repository", async () => {
  const place = await makePlace();
  const demo = path.resolve(import.meta.dirname, "../../scripts/demo");
  for (const repo of [place.project, path.join(place.project, "none")]) {
    const { finished } = startProgram([demo, "--repo", repo], { env: place.env, cwd: place.project });
    expect(await finished).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^demo: [^\n]*\n$/),
    });
  }
  expect(fs.readdirSync(place.home)).toEqual([]);
});
