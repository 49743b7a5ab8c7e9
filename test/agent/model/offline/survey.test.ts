import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createFileState } from "../../../../src/agent/file-state.js";
import { frameMessage } from "../../../../src/agent/message-frame.js";
import { loadOfflineScript } from "../../../../src/agent/model/offline/load-script.js";
import type { IncomingMessage } from "../../../../src/agent/ports.js";
import type { Tool } from "../../../../src/agent/tool.js";
import { createGlobTool } from "../../../../src/agent/tools/glob.js";
import { createGrepTool } from "../../../../src/agent/tools/grep.js";
import { createReadTool } from "../../../../src/agent/tools/read.js";
import { play } from "./script-harness.js";

const script = loadOfflineScript(
  fileURLToPath(new URL("../../../../examples/survey.model.yaml", import.meta.url)),
);

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
});
afterEach(() => fs.rmSync(dir, { recursive: true }));

test("the survey reports real files, lines and counts", async () => {
  write("src/alpha.ts", "export function one() {}\nexport function two() {}\n// TODO: three\n");
  write("src/beta.py", "def four():\n    pass\n");
  write("test/alpha.test.ts", "function five() {}\n");
  write("README.md", "# The sample\n\n## Use\n");
  write("package.json", "{}\n");
  const report = await survey();
  expect(report).toContain("- source files: 3");
  expect(report).toContain("- kinds of the 3 newest: ts (2), py (1)");
  expect(report).toContain("- definitions: 4 in 3 files");
  expect(report).toContain("- src/alpha.ts:3:// TODO: three");
  expect(report).toContain("- most definitions: src/alpha.ts (2)");
  expect(report).toContain("- then: src/beta.py (1), test/alpha.test.ts (1)");
  expect(report).toContain("- 1\texport function one() {}");
  expect(report).toContain("- src/alpha.ts:1:export function one() {}");
  expect(report).toContain("- test files: 1");
  expect(report).toContain("- README: README.md");
  expect(report).toContain("- its first line: The sample");
  expect(report).toContain("- configuration files at the top: package.json");
  expect(report).toContain("- README.md:3:## Use");
  expect(report).toContain("- 5 files tracked");
});

test("the survey works where there is nothing", async () => {
  const report = await survey();
  expect(report).toContain("- source files: 0");
  expect(report).toContain("- kinds of the 0 newest: none found");
  expect(report).toContain("- most definitions: none found");
  expect(report).toContain("- README: none found");
});

test("the survey counts beyond what the tools list", async () => {
  for (let i = 0; i < 120; i++) write(`lib/f${i}.js`, `function f${i}() {}\n`);
  const report = await survey();
  expect(report).toContain("- source files: 120");
  expect(report).toContain("- definitions: 120 in 120 files");
});

test("a search that fails is unknown, not zero", async () => {
  write("src/alpha.ts", "function one() {}\n");
  const grep: Tool = {
    ...createGrepTool(),
    run: async () => ({ content: "the search was killed", isError: true }),
  };
  const report = await survey(grep);
  expect(report).toContain("- source files: 1");
  expect(report).toContain("- definitions: unknown in unknown files");
  expect(report).toContain("- most definitions: none found");
});

/** The three agents with the real tools, one after another, and mail between them as the team would frame it. */
async function survey(grep: Tool = createGrepTool()): Promise<string> {
  const inboxes = new Map<string, IncomingMessage[]>();
  const conversations = new Map<string, MessageParam[]>();
  let serial = 0;
  const send = (from: string, to: string, text: string) => {
    const id = `mail-${++serial}`;
    const framed = { id, text: frameMessage({ id, from, kind: "text", text }), label: "mail" };
    inboxes.set(to, [...(inboxes.get(to) ?? []), framed]);
  };
  const wake = async (agent: string, prompt?: string) => {
    const conversation = conversations.get(agent) ?? [];
    conversations.set(agent, conversation);
    const mail = inboxes.get(agent) ?? [];
    inboxes.delete(agent);
    const result = await play({
      script,
      agent,
      conversation,
      input: [...mail, ...(prompt === undefined ? [] : [{ id: "p", text: prompt, label: "prompt" }])],
      tools: [createGlobTool(), grep, createReadTool(), sendMessage((to, text) => send(agent, to, text))],
      toolContext: { cwd: dir, env: {}, addedDirs: [], outputDir: dir, files: createFileState() },
    });
    expect(result).toMatchObject({ status: "completed" });
    return result.text;
  };

  expect(await wake("lead", "Survey this.")).toBe("Waiting for mail from scout, mapper, stats.");
  await wake("scout", "Go.");
  await wake("mapper", "Go.");
  expect(await wake("lead")).toBe("Waiting for mail from stats.");
  send("stats", "lead", "5 files tracked\nbranch main");
  expect(await wake("lead")).toBe("Waiting for mail from scout.");
  await wake("scout");
  return wake("lead");
}

function sendMessage(send: (to: string, text: string) => void): Tool {
  const schema = z.strictObject({ to: z.string(), message: z.string(), summary: z.string() });
  return {
    name: "SendMessage",
    description: "Sends.",
    schema,
    isReadOnly: () => false,
    summarise: () => "",
    run: async (input) => {
      const { to, message } = input as z.infer<typeof schema>;
      send(to, message);
      return { content: `Stored for ${to}.` };
    },
  };
}

function write(file: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
  fs.writeFileSync(path.join(dir, file), text);
}
