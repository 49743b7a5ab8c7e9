import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processesOf } from "../helpers/left-over.js";
import {
  type LoggedRequest,
  type MessagesServer,
  type ServerTurn,
  startMessagesServer,
} from "../helpers/messages-server.js";
import { makePlace, type Place } from "../helpers/place.js";
import { memberIn } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

const key = "sk-ant-test-0123456789";

/** A place whose agents reach a server on loopback. */
async function withModel(
  turns: Parameters<typeof startMessagesServer>[0]["turns"],
): Promise<{ place: Place; server: MessagesServer; env: Record<string, string> }> {
  const server = await startMessagesServer({ turns });
  onTestFinished(server.close);
  return {
    place: await makePlace(),
    server,
    env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: key },
  };
}

/** The content of a request's newest message. */
function lastContent({
  body,
}: LoggedRequest): { type: string; text?: string; content?: unknown; is_error?: boolean }[] {
  const { content } = body.messages.at(-1);
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

const textOf = (request: LoggedRequest): string => JSON.stringify(lastContent(request));
const call = (name: string, input: object): ServerTurn => ({ tools: [{ name, input }] });

test("a task is done by one agent that leads; what would need a person's leave is denied, and the model hears of it", async () => {
  const { place, server, env } = await withModel([
    {
      text: "I try.",
      tools: [
        { name: "Write", input: { file_path: "new.txt", content: "x" } },
        { name: "Bash", input: { command: "touch other.txt" } },
      ],
    },
    { text: "Neither was allowed." },
  ]);
  const { code, stdout, stderr } = await place.troupe(["run", "make two files"], { env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Neither was allowed.\n" });
  expect(stderr).toMatch(/lead +joined: general-purpose/);
  expect(server.requests).toHaveLength(2);
  const [first, second] = server.requests as [LoggedRequest, LoggedRequest];
  expect(textOf(first)).toContain("make two files");
  expect(JSON.stringify(first.headers)).toContain(key);
  const results = lastContent(second).filter(({ type }) => type === "tool_result");
  expect(results).toHaveLength(2);
  for (const result of results) {
    expect(result.is_error).toBe(true);
    expect(JSON.stringify(result.content)).toMatch(/denied|not allowed|permission/i);
  }
  expect(fs.readdirSync(place.project)).toEqual([]);
});

test("an agent that may edit writes a file; one that explores is not offered to", async () => {
  const { place, server, env } = await withModel((request) => {
    const isWriter = JSON.stringify(request.body.system).includes("writer");
    if (request.body.messages.length > 1) return { text: "Done." };
    return isWriter ? call("Write", { file_path: "new.txt", content: "written\n" }) : { text: "Looked." };
  });
  place.write("team.yaml", {
    name: "t",
    teammates: [
      { name: "writer", agent: "general-purpose", prompt: "Write it.", permissionMode: "acceptEdits" },
      { name: "looker", agent: "Explore", prompt: "Look." },
    ],
  });
  expect(await place.troupe(["run", "team.yaml"], { env })).toMatchObject({ code: 0 });
  expect(fs.readFileSync(path.join(place.project, "new.txt"), "utf8")).toBe("written\n");
  const toolsOf = (word: string): string[] =>
    server.requests
      .find((request) => textOf(request).includes(word))
      ?.body.tools.map(({ name }: { name: string }) => name);
  expect(toolsOf("Write it.")).toEqual(expect.arrayContaining(["Write", "Bash", "SendMessage"]));
  expect(toolsOf("Look.")).toEqual(expect.arrayContaining(["Grep", "SendMessage"]));
  expect(toolsOf("Look.")).not.toContain("Write");
});

test("a refused key is told and fails the run", async () => {
  const { place, server, env } = await withModel(() => ({ status: 401, message: "invalid x-api-key" }));
  const { code, stdout, stderr } = await place.troupe(["run", "anything"], { env });
  expect(stderr).toMatch(/invalid x-api-key/);
  expect(stderr).toMatch(/troupe: failed: lead/);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(server.requests).toHaveLength(1);
});

test("a limit is waited for as long as the server asks", async () => {
  const at: number[] = [];
  const { place, env } = await withModel((_, index) => {
    at.push(Date.now());
    return index === 0
      ? { status: 429, message: "slow down", headers: { "retry-after": "2" } }
      : { text: "Now." };
  });
  const { code, stdout, stderr } = await place.troupe(["run", "anything"], { env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Now.\n" });
  expect(stderr).toMatch(/lead .*429.* in 2\.0 s/);
  expect(at).toHaveLength(2);
  expect((at[1] as number) - (at[0] as number)).toBeGreaterThanOrEqual(1_900);
});

test("mail during a call is behind its result in the next request; no key is where it need not be", async () => {
  const { place, server, env } = await withModel((_, index) =>
    index === 0
      ? call("Bash", { command: "until [ -e gate ]; do sleep 0.1; done; env" })
      : { text: "I have seen it." },
  );
  place.write("team.yaml", {
    name: "t",
    teammates: [
      { name: "worker", agent: "general-purpose", prompt: "Begin.", permissionMode: "bypassPermissions" },
    ],
  });
  expect(await place.troupe(["up", "team.yaml", "-d", "--backend", "in-process"], { env })).toMatchObject({
    code: 0,
  });
  await until(
    () => processesOf(place.home).some(({ command }) => command.startsWith("bash -c until")),
    "the call",
  );
  for (const { command } of processesOf(place.home)) expect(command).not.toContain(key);
  expect(await place.troupe(["send", "worker", "look at this, too"])).toMatchObject({ code: 0 });
  place.write("gate", "");
  await memberIn(place, "worker", "idle");
  const content = lastContent(server.requests[1] as LoggedRequest);
  expect(content[0]?.type).toBe("tool_result");
  expect(JSON.stringify(content.slice(1))).toContain("look at this, too");
  expect(JSON.stringify(content[0]?.content)).toContain("TROUPE_AGENT_ID=worker@t");
  expect(JSON.stringify(content[0]?.content)).not.toContain(key);
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  for (const file of fs.readdirSync(place.home, { recursive: true, withFileTypes: true }))
    if (file.isFile())
      expect(fs.readFileSync(path.join(file.parentPath, file.name), "utf8"), file.name).not.toContain(key);
});
