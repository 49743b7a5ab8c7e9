import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { PermissionMode } from "../../../src/agent/permissions/mode.js";
import { permissionModes } from "../../../src/agent/permissions/mode.js";
import {
  createPermissions,
  type PermissionOptions,
  type PermissionRequest,
} from "../../../src/agent/permissions/permissions.js";
import type { Tool } from "../../../src/agent/tool.js";
import { builtinTools } from "../../../src/agent/tools/index.js";
import { createWorkspace, type Workspace } from "../tools/workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const never = new AbortController().signal;
const named = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: "",
  schema: z.unknown(),
  isReadOnly: () => false,
  summarise: () => name,
  run: async () => ({ content: "" }),
  ...more,
});
const tools = [
  ...builtinTools(),
  named("SendMessage", { alwaysAllowed: true }),
  named("Agent", { permissionSubjects: (input) => [(input as { type: string }).type] }),
  named("mcp__files__put"),
];

const inputs: Record<string, (text: string) => unknown> = {
  Bash: (command) => ({ command }),
  Grep: (given) => ({ pattern: "x", path: given }),
  Glob: (given) => ({ pattern: "x", path: given }),
  Agent: (type) => ({ type }),
};

/** Asks about `Tool text`: its command, path or type. */
async function decide(options: PermissionOptions, call: string, addedDirs: readonly string[] = []) {
  const [name = "", text = ""] = call.split(/ (.*)/s);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const input = inputs[name]?.(text) ?? { file_path: text, content: "", old_string: "a", new_string: "b" };
  return createPermissions(options).decide({ tool, input, cwd: space.cwd, addedDirs }, never);
}

/** `allow`, `deny` or `ask`. */
async function verdict(
  mode: PermissionMode,
  call: string,
  options: Partial<PermissionOptions> = {},
): Promise<string> {
  let asked = false;
  const ask = async () => {
    asked = true;
    return { behaviour: "deny", reason: "no" } as const;
  };
  const { behaviour } = await decide({ mode, ask, ...options }, call);
  return asked ? "ask" : behaviour;
}

const table = async (call: string, options: Partial<PermissionOptions> = {}) =>
  (await Promise.all(permissionModes.map((mode) => verdict(mode, call, options)))).join(" ");

describe("modes: plan, default, acceptEdits, bypassPermissions", () => {
  it.each([
    ["Read src/a.ts", "allow allow allow allow"],
    ["Grep src", "allow allow allow allow"],
    ["Bash git log -5", "allow allow allow allow"],
    ["Bash ls | wc -l", "allow allow allow allow"],
    ["SendMessage x", "allow allow allow allow"],
    ["Write src/a.ts", "deny ask allow allow"],
    ["Edit src/a.ts", "deny ask allow allow"],
    ["Edit ../a.ts", "deny deny deny allow"],
    ["Write /etc/x", "deny deny deny allow"],
    ["Bash rm x", "deny ask ask allow"],
    ["Bash echo $(rm x)", "deny ask ask allow"],
    ["Bash cat ../x", "ask ask ask allow"],
    ["Bash cat /etc/passwd", "ask ask ask allow"],
    ["Bash grep -f/etc/passwd x", "ask ask ask allow"],
    ["Bash rg --file=/etc/passwd", "ask ask ask allow"],
    ["Agent Explore", "deny ask ask allow"],
    ["mcp__files__put x", "deny ask ask allow"],
  ])("%s: %s", async (call, expected) => {
    expect(await table(call)).toBe(expected);
  });

  it.each([
    ".git/config",
    ".git",
    "sub/.git/hooks/pre-commit",
    ".GIT/config",
    ".claude/settings.json",
    ".troupe/team.yaml",
    ".mcp.json",
    ".bashrc",
    "home/.zshenv",
    ".envrc",
    "link/config",
  ])("always ask about writing %s, even with an allow rule", async (file) => {
    fs.mkdirSync(space.at(".git"));
    fs.symlinkSync(".git", space.at("link"));
    const rules = { allow: ["Edit", "Write", "Bash(touch:*)"] };
    expect(await table(`Write ${file}`, { rules })).toBe("deny ask ask allow");
    expect(await table(`Bash touch ${file}`, { rules })).toBe("deny ask ask allow");
    expect(await verdict("default", `Bash echo x > ${file}`, { rules: { allow: ["Bash"] } })).toBe("ask");
    expect(await verdict("default", `Read ${file}`)).toBe("allow");
  });

  it("do not guard a working directory for lying in such a directory", async () => {
    const cwd = space.at(".troupe/worktrees/w");
    fs.mkdirSync(cwd, { recursive: true });
    const tool = tools.find(({ name }) => name === "Write") as Tool;
    const permissions = createPermissions({ mode: "acceptEdits" });
    const at = (file_path: string) =>
      permissions.decide({ tool, input: { file_path, content: "" }, cwd, addedDirs: [] }, never);
    expect(await at("a")).toEqual({ behaviour: "allow" });
    expect(await at(".git")).toMatchObject({ behaviour: "deny" });
  });

  it("see through links", async () => {
    fs.symlinkSync(space.outside, space.at("link"));
    fs.symlinkSync("loop", space.at("loop"));
    expect(await verdict("acceptEdits", "Write link/a")).toBe("deny");
    expect(await verdict("acceptEdits", "Write loop")).toBe("deny");
    expect(await verdict("default", "Bash cat link/a")).toBe("ask");
    expect(await verdict("default", "Bash cat link")).toBe("ask");
  });

  it("take added directories for working directories", async () => {
    const call = `Write ${space.outside}/a`;
    expect((await decide({ mode: "acceptEdits" }, call)).behaviour).toBe("deny");
    expect((await decide({ mode: "acceptEdits" }, call, [space.outside])).behaviour).toBe("allow");
  });
});

describe("rules", () => {
  it("deny beats ask beats allow", async () => {
    const both = { allow: ["Bash(npm:*)"], ask: ["Bash(npm publish:*)"], deny: ["Bash(npm unpublish:*)"] };
    expect(await table("Bash npm test", { rules: both })).toBe("deny allow allow allow");
    expect(await table("Bash npm publish", { rules: both })).toBe("deny ask ask allow");
    expect(await table("Bash npm unpublish", { rules: both })).toBe("deny deny deny deny");
  });

  it("an allow rule for commands covers nothing that is not certain", async () => {
    const rules = { allow: ["Bash(git log:*)", "Bash(npm test)"] };
    const allowed = ["git log", "git log --stat | head -5", "npm test && git log", "npm test | wc -l"];
    const asked = [
      "git log; rm x",
      "git log && rm x",
      "git log | sh",
      "git log > f",
      "git log $(rm x)",
      "git log `rm x`",
      "git log\nrm x",
      "git log & rm x",
      "GIT_PAGER=x git log",
      "env git log",
      "git logx",
      "npm test -- x",
      "npm test | cat ../x",
    ];
    for (const command of allowed)
      expect(await verdict("default", `Bash ${command}`, { rules }), command).toBe("allow");
    for (const command of asked)
      expect(await verdict("default", `Bash ${command}`, { rules }), command).toBe("ask");
  });

  it("a rule without a pattern covers every use", async () => {
    expect(await verdict("default", "Bash rm $(x)", { rules: { allow: ["Bash"] } })).toBe("allow");
    expect(await verdict("bypassPermissions", "Bash ls", { rules: { deny: ["Bash"] } })).toBe("deny");
  });

  it("a deny rule finds its command anywhere, in every mode", async () => {
    const rules = { deny: ["Bash(rm:*)"] };
    for (const command of ["rm x", "ls; rm x", "bash -c 'rm x'", "$(rm x)", "sudo /bin/rm x"])
      expect(await table(`Bash ${command}`, { rules }), command).toBe("deny deny deny deny");
  });

  it("rules for paths hold for all tools of their kind, through links, and for commands", async () => {
    const rules = { deny: ["Read(.env)", "Edit(secrets/**)"], allow: ["Edit(src/**)", "Bash(tee:*)"] };
    fs.mkdirSync(space.at("secrets"));
    fs.symlinkSync("secrets", space.at("harmless"));
    expect(await verdict("bypassPermissions", "Read .env", { rules })).toBe("deny");
    expect(await verdict("bypassPermissions", "Read a/.ENV", { rules })).toBe("deny");
    expect(await verdict("bypassPermissions", "Grep .env", { rules })).toBe("deny");
    expect(await verdict("bypassPermissions", "Bash cat .env", { rules })).toBe("deny");
    expect(await verdict("bypassPermissions", "Write secrets/a", { rules })).toBe("deny");
    expect(await verdict("bypassPermissions", "Edit harmless/a", { rules })).toBe("deny");
    expect(await verdict("default", "Bash tee harmless/a", { rules })).toBe("deny");
    expect(await verdict("default", "Read secrets/a", { rules })).toBe("allow");
    expect(await verdict("default", "Write src/a", { rules })).toBe("allow");
    expect(await verdict("default", "Write lib/a", { rules })).toBe("ask");
  });

  it("an allow rule does not follow a link away from what it names", async () => {
    fs.mkdirSync(space.at("src"));
    fs.symlinkSync("../../outside", space.at("src/link"));
    expect(await verdict("default", "Write src/link/a", { rules: { allow: ["Write(src/**)"] } })).toBe(
      "deny",
    );
  });

  it("match names without regard to case, and servers as a whole", async () => {
    expect(await verdict("default", "Agent Explore", { rules: { allow: ["Task(explore)"] } })).toBe("allow");
    expect(await verdict("default", "Agent Plan", { rules: { allow: ["Task(explore)"] } })).toBe("ask");
    expect(await verdict("default", "mcp__files__put", { rules: { allow: ["mcp__files"] } })).toBe("allow");
    expect(
      await verdict("bypassPermissions", "mcp__files__put", { rules: { deny: ["mcp__files__*"] } }),
    ).toBe("deny");
    expect(await verdict("default", "mcp__files__put", { rules: { allow: ["mcp__fil"] } })).toBe("ask");
  });

  it("that cannot be read are refused at once", () => {
    expect(() => createPermissions({ mode: "default", rules: { deny: ["Bash("] } })).toThrow("Bash(");
  });

  it("never let bypassPermissions past a deny, whatever stands around it", async () => {
    const noise = fc.string({ maxLength: 10 }).map((text) => text.replace(/['"\\]/g, ""));
    await fc.assert(
      fc.asyncProperty(noise, noise, async (before, after) => {
        const call = `Bash ${before};rm x;${after}`;
        expect(await verdict("bypassPermissions", call, { rules: { deny: ["Bash(rm:*)"] } })).toBe("deny");
      }),
      { numRuns: 50 },
    );
  });
});

describe("protected directories", () => {
  it("are closed to every tool in every mode, but for what is open in them", async () => {
    const home = path.join(space.base, "home");
    const open = path.join(home, "out");
    fs.mkdirSync(open, { recursive: true });
    fs.symlinkSync(home, space.at("link"));
    const options = {
      protectedDirs: [home],
      openDirs: [open],
      home: space.base,
      rules: { allow: ["Bash", "Edit"] },
    };
    for (const call of [
      `Read ${home}/key`,
      `Write ${home}/key`,
      "Read link/key",
      `Bash cat ${home}/key`,
      `Bash echo x > ${home}/key`,
      `Bash X=${home}/key; cat $X`,
      "Bash cat link/key",
      "Bash cat ~/home/key",
      "Bash cat $HOME/home/key",
      `Grep ${home}`,
    ])
      expect(await table(call, options), call).toBe("deny deny deny deny");
    expect(await verdict("default", `Read ${open}/log`, options)).toBe("allow");
    expect(await verdict("bypassPermissions", `Bash cat ${open}/log`, options)).toBe("allow");
  });

  it("keep reading commands from wandering into them unasked", async () => {
    const home = space.at(".hidden");
    fs.mkdirSync(home);
    expect(await verdict("default", "Bash grep -r key", { protectedDirs: [home] })).toBe("ask");
    expect(await verdict("default", "Bash grep -r key")).toBe("allow");
  });
});

describe("questions", () => {
  it("without anybody to ask are denied with the reason and what would help", async () => {
    const decision = async (call: string) => {
      const result = await decide({ mode: "default" }, call);
      return result.behaviour === "deny" ? result.reason : "allowed";
    };
    expect(await decision("Bash npm test")).toBe(
      "it may change things, and nobody is there to approve it. It would be allowed by an allow rule Bash(npm test) or mode bypassPermissions.",
    );
    expect(await decision("Edit src/a.ts")).toBe(
      "it changes things, and nobody is there to approve it. It would be allowed by an allow rule Edit(src/a.ts) or mode acceptEdits or mode bypassPermissions.",
    );
    expect(await decision("Write .git/config")).toContain(
      "is always asked about, and nobody is there to approve it",
    );
    expect(await decision("Write .git/config")).not.toContain("allow rule");
    expect(await decision("Bash a $(b)")).not.toContain("allow rule");
  });

  it("tell what, why and what always would mean, and always is remembered", async () => {
    const requests: PermissionRequest[] = [];
    const tool = tools.find(({ name }) => name === "Bash") as Tool;
    const permissions = createPermissions({
      mode: "default",
      ask: async (request) => {
        requests.push(request);
        return { behaviour: "allow", always: true };
      },
    });
    const run = (command: string) =>
      permissions.decide({ tool, input: { command }, cwd: space.cwd, addedDirs: [] }, never);
    for (const command of ["npm test", "npm test", "npm publish", "a $(b)", "a $(b)"])
      expect((await run(command)).behaviour).toBe("allow");
    expect(requests).toEqual([
      { tool: "Bash", summary: "npm test", reason: "it may change things", rule: "Bash(npm test)" },
      { tool: "Bash", summary: "npm publish", reason: "it may change things", rule: "Bash(npm publish)" },
      { tool: "Bash", summary: "a $(b)", reason: expect.stringContaining("not certain") },
      { tool: "Bash", summary: "a $(b)", reason: expect.stringContaining("not certain") },
    ]);
  });

  it("suggest only rules that allow the very call", async () => {
    const piece = fc.constantFrom("npm", "test", "'a b'", "'*'", "'(x)'", "-x", "a:*", "x=1", "ä");
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 4 }), async (pieces) => {
        let rule: string | undefined;
        const ask = async (request: PermissionRequest) => {
          rule = request.rule;
          return { behaviour: "deny", reason: "" } as const;
        };
        const call = `Bash run ${pieces.join(" ")}`;
        await decide({ mode: "default", ask }, call);
        if (rule === undefined) return;
        expect(await verdict("default", call, { rules: { allow: [rule] } }), rule).toBe("allow");
        expect(await verdict("default", `${call} more`, { rules: { allow: [rule] } }), rule).toBe("ask");
      }),
    );
  });

  it("suggest a rule for the one file, wherever it lies", async () => {
    for (const file of ["a", "d/a", `${space.outside}/a`, "a[1]"]) {
      let rule: string | undefined;
      const ask = async (request: PermissionRequest) => {
        rule = request.rule;
        return { behaviour: "deny", reason: "" } as const;
      };
      await decide({ mode: "default", ask }, `Write ${file}`, [space.outside]);
      if (file === "a[1]") expect(rule).toBeUndefined();
      else {
        const options = { mode: "default", rules: { allow: [rule ?? ""] } } as const;
        expect((await decide(options, `Write ${file}`, [space.outside])).behaviour, rule).toBe("allow");
        expect((await decide(options, "Write x/d/a", [space.outside])).behaviour).toBe("deny");
      }
    }
  });

  it("end with the signal", async () => {
    const tool = tools[0] as Tool;
    const call = { tool, input: { file_path: "a" }, cwd: space.cwd, addedDirs: [] };
    await expect(
      createPermissions({ mode: "plan" }).decide(call, AbortSignal.abort(new Error("off"))),
    ).rejects.toThrow("off");
  });
});
