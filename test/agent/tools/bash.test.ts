import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBashTool } from "../../../src/agent/tools/bash.js";
import { identityOf } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { createWorkspace, use, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const bash = (input: object, context = space.context) => use(createBashTool(), input, context);
const pidIn = (file: string) =>
  waitUntil(file, () => (fs.existsSync(space.at(file)) && Number(space.read(file))) || undefined, {
    timeoutMs: 5000,
  });

describe("Bash", () => {
  it("gives output and exit code", async () => {
    expect(await bash({ command: "echo out; echo err >&2" })).toEqual({
      content: "out\nerr\n[exit code 0]",
      isError: false,
    });
    expect(await bash({ command: "echo no; exit 3" })).toEqual({
      content: "no\n[exit code 3]",
      isError: true,
    });
    expect((await bash({ command: "true" })).content).toBe("(no output)\n[exit code 0]");
    expect(await bash({ command: "kill -KILL $$" })).toEqual({
      content: "(no output)\n[ended by SIGKILL]",
      isError: true,
    });
  });

  it("runs in the working directory, without stdin, with the agent's environment alone", async () => {
    const env = { ...space.context.env, MARK: "set", TMUX: "/tmp/x,1,0", TMUX_PANE: "%1" };
    const command = "pwd; cat; echo $MARK ${TMUX-none} ${TMUX_PANE-none} ${VITEST-none}";
    const { content } = await bash({ command }, { ...space.context, env });
    expect(content).toBe(`${space.cwd}\nset none none none\n[exit code 0]`);
  });

  it("keeps nothing between calls", async () => {
    await bash({ command: "cd /; export LEFT=1" });
    expect((await bash({ command: "pwd; echo ${LEFT-none}" })).content).toBe(
      `${space.cwd}\nnone\n[exit code 0]`,
    );
  });

  it("cuts long output in the middle and keeps all of it in a file", async () => {
    const { content } = await bash({ command: "seq 1 200000" });
    expect(content.length).toBeLessThan(31_000);
    expect(content.startsWith("1\n2\n")).toBe(true);
    expect(content.endsWith("199999\n200000\n[exit code 0]")).toBe(true);
    const file = /the whole output is in (\S+) …/.exec(content)?.[1] ?? "";
    expect(path.dirname(file)).toBe(space.context.outputDir);
    expect(fs.readFileSync(file, "utf8").split("\n")).toHaveLength(200_001);
  });

  it("makes no file for short output, whatever the call is named", async () => {
    await bash({ command: "echo x" }, { ...space.context, toolUseId: "x/../../escape" });
    await bash({ command: "seq 1 20000" }, { ...space.context, toolUseId: "x/../../escape" });
    expect(fs.readdirSync(space.context.outputDir)).toHaveLength(1);
    expect(fs.readdirSync(space.base).sort()).toEqual(["out", "outside", "work"]);
  });

  it("ends everything at its time limit, also what ignores TERM", async () => {
    const command = `trap '' TERM; (trap '' TERM; echo $BASHPID > pid; while :; do sleep 0.1; done) & echo begun; while :; do sleep 0.1; done`;
    const result = await bash({ command, timeout: 500 });
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(/^begun\n\[Timed out after 0\.5 s;/);
    expect(identityOf(await pidIn("pid"))).toBeUndefined();
  });

  it("ends everything on abort, and throws the reason", async () => {
    const work = bash({ command: "(echo $BASHPID > pid; sleep 60) & wait" });
    const pid = await pidIn("pid");
    space.abort(new Error("enough"));
    expect(await work).toEqual({ content: "enough", isError: true });
    expect(identityOf(pid)).toBeUndefined();
  });

  it("ends what it leaves in the background with its output open, and says so", async () => {
    const { content } = await bash({ command: "sleep 60 & echo $! > pid; echo begun" });
    expect(content).toContain("begun\n[exit code 0]\n[what it left in the background was ended");
    expect(identityOf(await pidIn("pid"))).toBeUndefined();
  });

  it("leaves a redirected background process alone, and tells how to end it", async () => {
    const { content } = await bash({ command: "sleep 60 > /dev/null 2>&1 & echo $! > pid" });
    const pid = await pidIn("pid");
    try {
      expect(identityOf(pid)).toBeDefined();
      const group = /still running in the background; end it with: kill -- -(\d+)/.exec(content)?.[1];
      await bash({ command: `kill -KILL -- -${group}` });
      await waitUntil("its end", () => identityOf(pid) === undefined, { timeoutMs: 5000 });
    } finally {
      if (identityOf(pid) !== undefined) process.kill(pid, "SIGKILL");
    }
  });

  it("refuses fields that it does not have and times beyond its limit", () => {
    const { schema } = createBashTool();
    expect(schema.safeParse({ command: "x", run_in_background: true }).error?.message).toContain(
      "run_in_background",
    );
    expect(schema.safeParse({ command: "x", timeout: 600_001 }).success).toBe(false);
    expect(schema.safeParse({ command: "" }).success).toBe(false);
  });
});
