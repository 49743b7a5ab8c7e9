import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { loadTeamFile, parseTeamFile } from "../../../src/team/team-file/load.js";
import { TroupeError } from "../../../src/util/errors.js";
import { temporaryDirectory } from "../../helpers/temp.js";

/** The refusal of a team file, without the code and kind that all of them share. */
function refusal(text: string): string {
  try {
    parseTeamFile(text, "team.yaml");
  } catch (error) {
    expect(error).toMatchObject({ code: "bad-team-file", kind: "usage" });
    return (error as TroupeError).message;
  }
  throw new Error("the team file was accepted");
}

const minimal = "name: demo\nteammates:\n  - { name: ada, command: sleep 1 }\n";

describe("parseTeamFile", () => {
  it("gives the file as it was written", () => {
    expect(
      parseTeamFile(
        `
name: auth-review
description: looks at auth
lead: { agent: general-purpose, prompt: "Lead.", model: opus, permissionMode: plan, maxTurns: 7 }
backend: in-process
model: offline
modelScript: survey.model.yaml
layout: tiled
leadWidth: 10
maxPanesPerWindow: 30
limits: { teammates: 3, shutdownDeadline: 0.5, orphanTimeout: 60 }
tmux: { userConfig: false }
teammates:
  - { name: scout, agent: Explore, prompt: Look., cwd: src, env: { A: b }, color: pink, maxTurns: 1 }
  - { name: tests, command: [npm, test], service: true }
  - { name: shell, command: echo $HOME, input: terminal }
`,
        "team.yaml",
      ),
    ).toEqual({
      name: "auth-review",
      description: "looks at auth",
      lead: { agent: "general-purpose", prompt: "Lead.", model: "opus", permissionMode: "plan", maxTurns: 7 },
      backend: "in-process",
      model: "offline",
      modelScript: "survey.model.yaml",
      layout: "tiled",
      leadWidth: 10,
      maxPanesPerWindow: 30,
      limits: { teammates: 3, shutdownDeadline: 0.5, orphanTimeout: 60 },
      tmux: { userConfig: false },
      teammates: [
        {
          name: "scout",
          agent: "Explore",
          prompt: "Look.",
          cwd: "src",
          env: { A: "b" },
          color: "pink",
          maxTurns: 1,
        },
        { name: "tests", command: ["npm", "test"], service: true },
        { name: "shell", command: "echo $HOME", input: "terminal" },
      ],
    });
  });

  it("takes a lead alone, teammates alone, JSON and aliases", () => {
    expect(parseTeamFile("name: a\nlead: { agent: Explore }", "t").teammates).toEqual([]);
    expect(parseTeamFile(JSON.stringify({ name: "a", lead: { agent: "Explore" } }), "t").name).toBe("a");
    const file = parseTeamFile(
      "name: a\nteammates:\n  - &one { name: x, command: [sh, -c, &word 'true'] }\n  - { name: y, command: *word }",
      "t",
    );
    expect(file.teammates[1]?.command).toBe("true");
  });

  it.each([
    ["at the top", `${minimal}teamates: []\n`, "4:1: unknown field teamates; did you mean teammates?"],
    [
      "of a teammate",
      minimal.replace("command:", "comand:"),
      /^3:18: unknown field comand; did you mean command\?/,
    ],
    [
      "of the lead",
      "name: a\nlead:\n  agent: Explore\n  promt: x\n",
      "4:3: unknown field promt; did you mean prompt?",
    ],
    [
      "of limits",
      `${minimal}limits:\n    teammates: 3\n    orphanTimeOut: 5\n`,
      "6:5: unknown field orphanTimeOut; did you mean orphanTimeout?",
    ],
    [
      "of tmux",
      `${minimal}tmux: { userconfig: true }`,
      "4:9: unknown field userconfig; did you mean userConfig?",
    ],
    ["that is like none", `${minimal}"zzz zzz": 1\n`, "4:1: unknown field zzz zzz"],
    ["named __proto__", `${minimal}__proto__: {}\n`, "4:1: unknown field __proto__"],
  ])("refuses an unknown field %s, at the field", (_, text, expected) => {
    const told = refusal(text);
    if (typeof expected === "string") expect(told).toBe(`team.yaml:${expected}`);
    else expect(told.replace(/^team.yaml:/, "")).toMatch(expected);
  });

  it.each([
    ["name: [a]\nlead: { agent: Explore }", /^team.yaml:1:7: name: .*string/],
    ["name: 7\nlead: { agent: Explore }", /^team.yaml:1:7: name: .*string/],
    ["lead: { agent: Explore }", /^team.yaml:1:1: name: /],
    [`${minimal}leadWidth: 95\n`, /^team.yaml:4:12: leadWidth: .*90/],
    [`${minimal}leadWidth: 20.5\n`, /^team.yaml:4:12: leadWidth: .*int/],
    [`${minimal}backend: tmx\n`, /^team.yaml:4:10: backend: .*"tmux"/],
    [`${minimal}limits: { orphanTimeout: 0 }\n`, /^team.yaml:4:26: limits.orphanTimeout: /],
    ["name: a\nteammates: ada\n", /^team.yaml:2:12: teammates: .*array/],
    ["name: a\nteammates:\n  - ada\n", /^team.yaml:3:5: teammates.0: .*object/],
    ["name: a\nteammates:\n  - { agent: Explore }\n", /^team.yaml:3:5: teammates.0.name: /],
    ["name: a\nteammates:\n  - name: x\n    command: []\n", /^team.yaml:4:14: teammates.0.command: /],
    ["name: a\nteammates:\n  - name: x\n    command: x\n    color: mauve\n", /^team.yaml:5:12: .*"red"/],
    [
      "name: a\nteammates:\n  - name: x\n    command: x\n    env: { A: 1 }\n",
      /^team.yaml:5:15: teammates.0.env.A: /,
    ],
    ["just words\n", /^team.yaml:1:1: the team file: .*object/],
    ["", /^team.yaml:1:1: the team file: /],
    ["# nothing\n\n", /^team.yaml:\d+:\d+: the team file: /],
  ])("refuses a value of the wrong type at the value: %j", (text, expected) => {
    expect(refusal(text)).toMatch(expected);
  });

  it.each([
    ["name: a\n  b: c\n", 1],
    ["name: [a\n", 2],
    ["name: a\nname: b\nlead: { agent: Explore }\n", 2],
    [`${minimal}limits:\n  teammates: 1\n  teammates: 2\n`, 6],
    ["name: a\n--- \nname: b\n", 2],
    ["name: \t@x\n", 1],
  ])("refuses what is not YAML, or has a key twice, with the line: %j", (text, line) => {
    expect(refusal(text)).toMatch(new RegExp(`^team\\.yaml:${line}:\\d+: .+`));
    expect(refusal(text)).not.toContain("\n");
  });

  it("refuses aliases that name nothing, or that grow without bound", () => {
    expect(refusal("name: *nobody\nlead: { agent: Explore }")).toMatch(/^team.yaml:1:7: .*nobody/);
    const levels = Array.from({ length: 9 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i}, `.repeat(9)}]`);
    expect(refusal(`x0: &x0 a\n${levels.join("\n")}\n`)).toMatch(/^team.yaml:\d+:\d+: .*alias/i);
  });

  it("refuses one name twice, by key, at the second", () => {
    const text = (a: string, b: string) =>
      `name: a\nteammates:\n  - { name: ${a}, command: x }\n  - { name: ${b}, command: x }\n`;
    expect(refusal(text("ΟΔΟΣ", "οδοσ"))).toBe("team.yaml:4:13: οδοσ and ΟΔΟΣ are the same name");
    expect(refusal(text("straße", "STRASSE"))).toBe("team.yaml:4:13: STRASSE and straße are the same name");
    expect(refusal(text("ada", "Ada"))).toContain("4:13");
    expect(parseTeamFile(text("ada", "ada2"), "t").teammates).toHaveLength(2);
  });

  it.each(["lead", "User", "host", "-x", "a b", "аda", '"*"', '""', "x".repeat(181)])(
    "refuses the name %s with one that works",
    (name) => {
      expect(refusal(`name: a\nteammates:\n  - name: ${name}\n    command: x\n`)).toMatch(
        /^team\.yaml:3:11: teammate name .*; a name that works: \S+$/,
      );
    },
  );

  it("refuses the team's own bad name", () => {
    expect(refusal("name: a/b\nlead: { agent: Explore }")).toMatch(
      /^team\.yaml:1:7: team name "a\/b": .*works: a-b$/,
    );
  });

  it("wants one of agent and command, and no prompt for a command", () => {
    const of = (fields: string) => `name: a\nteammates:\n  - name: x\n${fields}`;
    expect(refusal(of(""))).toBe("team.yaml:3:5: teammate x needs one of agent and command");
    expect(refusal(of("    agent: Explore\n    command: y\n"))).toBe(
      "team.yaml:3:5: teammate x needs one of agent and command",
    );
    expect(refusal(of("    command: y\n    prompt: z\n"))).toBe(
      "team.yaml:5:13: x is a command: it takes no prompt",
    );
    expect(refusal(of("    agent: Explore\n    input: terminal\n"))).toBe(
      "team.yaml:5:12: x is an agent: only a command takes input",
    );
    expect(refusal(of("    command: y\n    input: pipe\n"))).toMatch(
      /^team\.yaml:5:12: .*expected "terminal"/,
    );
    expect(refusal("name: a\n")).toBe("team.yaml:1:1: a team needs teammates, or a lead that is an agent");
  });

  it("counts what else is wrong", () => {
    expect(refusal(`${minimal}aa: 1\nbb: 2\nbackend: 3\n`)).toMatch(/ \(and 2 more\)$/);
  });

  it("loads every document or refuses it with a place inside of it", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string({ unit: fc.constantFrom(..."-:&*!|>'\"%@{}[], \n\ta?#~<=1") }),
          fc.json().map((json) => stringify(JSON.parse(json))),
          teamLike.map((value) => stringify(value)),
        ),
        isLoadedOrRefused,
      ),
      { numRuns: 300 },
    );
  });

  it("does so for documents that nest deeply", () => {
    for (const text of ["[".repeat(20_000), "{a: ".repeat(5_000), `${"[".repeat(5_000)}${"]".repeat(5_000)}`])
      isLoadedOrRefused(`name: ${text}`);
  });
});

/** Something that comes near to a team file. */
const teamLike = fc.record(
  {
    name: fc.oneof(fc.constantFrom("demo", "ΟΔΟΣ", "", "*"), fc.jsonValue()),
    lead: fc.oneof(fc.record({ agent: fc.string() }), fc.jsonValue()),
    limits: fc.oneof(fc.dictionary(fc.constantFrom("teammates", "orphanTimeout", "x"), fc.jsonValue())),
    teammates: fc.array(
      fc.record(
        {
          name: fc.constantFrom("ada", "Ada", "lead", "x y"),
          agent: fc.constantFrom("Explore", 7),
          command: fc.oneof(fc.string(), fc.array(fc.string())),
          prompt: fc.string(),
          colour: fc.jsonValue(),
        },
        { requiredKeys: ["name"] },
      ),
    ),
    toString: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

function isLoadedOrRefused(text: string): void {
  try {
    parseTeamFile(text, "team.yaml");
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    expect(error).toMatchObject({ kind: "usage", code: "bad-team-file" });
    const [, line = "", column = ""] = /^team\.yaml:(\d+):(\d+): ./su.exec(error.message) ?? [];
    const lines = text.split("\n");
    expect(Number(line)).toBeGreaterThanOrEqual(1);
    expect(Number(line)).toBeLessThanOrEqual(lines.length);
    expect(Number(column)).toBeGreaterThanOrEqual(1);
    expect(Number(column)).toBeLessThanOrEqual((lines[Number(line) - 1] ?? "").length + 1);
  }
}

describe("loadTeamFile", () => {
  it("reads a file, and names it in errors as it was given", () => {
    const file = path.join(temporaryDirectory(), "team.yaml");
    fs.writeFileSync(file, minimal);
    expect(loadTeamFile(file).name).toBe("demo");
    fs.writeFileSync(file, "x: 1");
    expect(() => loadTeamFile(file, "./team.yaml")).toThrow(/^\.\/team\.yaml:1:1: /);
  });

  it("says what is wrong with a file that cannot be read", () => {
    const dir = temporaryDirectory();
    const told = (file: string) => expect(() => loadTeamFile(file, "it"));
    told(path.join(dir, "none")).toThrow(
      expect.objectContaining({ kind: "usage", message: "team file it: there is no such file" }),
    );
    told(dir).toThrow(expect.objectContaining({ kind: "usage", message: expect.stringContaining("EISDIR") }));
  });
});
