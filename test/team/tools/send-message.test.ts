import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Message, openMailbox } from "../../../mailbox/index.js";
import { createPermissions } from "../../../src/agent/permissions/permissions.js";
import type { Tool, ToolContext } from "../../../src/agent/tool.js";
import { createPostman } from "../../../src/team/postman.js";
import { mailboxOf } from "../../../src/team/send.js";
import { createSendMessageTool } from "../../../src/team/tools/send-message.js";
import { listenForMail } from "../../../src/team/uds-listen.js";
import { makeTeam } from "../../cli/made-team.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";

const asked = "0193aaaa-0000-7000-8000-000000000000";

/** The tool of `ada`, who was asked by bob; `log` holds what she replied to. */
function toolOf(team: LivingTeam) {
  const log: (string | undefined)[] = [];
  const tool = createSendMessageTool({
    postman: createPostman({ team, from: "ada", privateKey: team.key("ada") }),
    asked: (to) => (to === "bob" ? asked : undefined),
    replied: (id) => void log.push(id),
  });
  const run = (input: object) => tool.run(tool.schema.parse(input), {} as ToolContext);
  return { tool, run, log };
}

describe("SendMessage", () => {
  it("says what was stored, and for whom", async () => {
    const team = await makeLivingTeam();
    const { run, log } = toolOf(team);
    const result = await run({ to: "BOB", message: "hello", summary: "greeting" });
    const [message] = team.mailOf("bob");
    expect(result).toEqual({ content: `Stored for bob (id ${message?.id}).` });
    expect(message).toMatchObject({ kind: "text", text: "hello", summary: "greeting", inReplyTo: asked });
    expect(log).toEqual([asked]);
  });

  it("answers what it is told to answer, or nothing where nothing was asked", async () => {
    const team = await makeLivingTeam();
    const { run, log } = toolOf(team);
    const other = asked.replace("aaaa", "bbbb");
    await run({ to: "bob", message: "x", inReplyTo: other });
    await run({ to: "lead", message: "y" });
    expect(team.mailOf("bob")).toMatchObject([{ inReplyTo: other }]);
    expect(team.mailOf("user")[0]).not.toHaveProperty("inReplyTo");
    expect(log).toEqual([other, undefined]);
  });

  it("tells each recipient of a broadcast", async () => {
    const { content } = await toolOf(await makeLivingTeam({ agents: ["ada", "bob", "cid"] })).run({
      to: "*",
      message: "x",
    });
    expect(content).toMatch(/^Stored for user \(id .*\)\.\nStored for bob .*\nStored for cid .*$/);
  });

  it("says whom a broadcast did not reach", async () => {
    const team = await makeLivingTeam();
    fs.rmSync(mailboxOf(team.paths, "bob"), { recursive: true });
    const { content } = await toolOf(team).run({ to: "*", message: "x" });
    expect(content).toMatch(/^Stored for user \(id .*\)\.\nnot stored for bob: there is no mailbox .*$/);
  });

  it("gives an error result for a name that nobody has, and for what cannot be sent; nothing was answered", async () => {
    const team = await makeLivingTeam();
    const { run, log } = toolOf(team);
    expect(await run({ to: "bobb", message: "x" })).toEqual({
      isError: true,
      content: 'no member named "bobb" in team demo. did you mean bob?',
    });
    expect(await run({ to: "bob", message: "x".repeat(1024 * 1024 + 1) })).toMatchObject({ isError: true });
    expect(await run({ to: "bob", message: "x", inReplyTo: "what you said" })).toMatchObject({
      isError: true,
    });
    expect(log).toEqual([]);
    expect(team.mailOf("bob")).toEqual([]);
  });

  it("writes to channels, which its description names, and to other teams", async () => {
    const plain = await makeLivingTeam();
    const other = await makeTeam(plain.made, { name: "other", members: [{ name: "eve" }] });
    const team = { ...plain, record: { ...plain.record, channels: { pair: ["bob", "user"] } } };
    const { tool, run } = toolOf(team);
    expect(tool.description).toContain("Channels: #pair (bob, user).");
    expect(toolOf(plain).tool.description).not.toContain("Channels");
    expect((await run({ to: "#PAIR", message: "x" })).content).toMatch(
      /^Stored for bob \(id .*\)\.\nStored for user \(id .*\)\.$/,
    );
    expect(team.mailOf("bob")).toMatchObject([{ to: "#pair" }]);
    expect((await run({ to: "eve@other", message: "y" })).content).toMatch(/^Stored for eve@other \(id /);
    expect(openMailbox(mailboxOf(other, "eve")).counts().new).toBe(1);
    expect(await run({ to: "#par", message: "x" })).toEqual({
      isError: true,
      content: 'no channel "#par" in team demo. did you mean #pair?',
    });
  });

  it("writes to a socket, and tells what came of it", async () => {
    const team = await makeLivingTeam();
    const socket = path.join(team.made.root, "s");
    const { run } = toolOf(team);
    expect(await run({ to: `uds:${socket}`, message: "x" })).toMatchObject({
      isError: true,
      content: expect.stringContaining("nobody listens"),
    });
    const got: Message[] = [];
    const place = { socket, locks: path.join(team.made.root, "locks") };
    const listener = await listenForMail(place, async (message) => {
      got.push(message);
      return { id: message.id, duplicate: false };
    });
    onTestFinished(() => listener.close());
    const { content } = await run({ to: `uds:${socket}`, message: "x" });
    expect(content).toBe(`Stored for uds:${socket} (id ${got[0]?.id}).`);
    expect(got).toMatchObject([{ from: "ada@demo", to: `uds:${socket}`, text: "x" }]);
    expect(await run({ to: "uds:s", message: "x" })).toMatchObject({ isError: true });
  });

  it.each([
    ["a member", "bob", "default", {}, "allow"],
    ["a channel in plan mode", "#pair", "plan", {}, "allow"],
    ["a socket", "uds:/run/a.sock", "default", {}, "deny"],
    ["a socket", "uds:/run/a.sock", "acceptEdits", {}, "deny"],
    ["a socket", "uds:/run/a.sock", "plan", { allow: ["SendMessage"] }, "deny"],
    ["a socket", "uds:/run/a.sock", "bypassPermissions", {}, "allow"],
    [
      "a socket with a rule",
      "uds:/run/a.sock",
      "default",
      { allow: ["SendMessage(uds:/run/a.sock)"] },
      "allow",
    ],
    [
      "a socket with a rule",
      "uds:/run/me/a.sock",
      "default",
      { allow: ["SendMessage(uds:/run/me/*)"] },
      "allow",
    ],
    ["another's socket", "uds:/run/b.sock", "default", { allow: ["SendMessage(uds:/run/me/*)"] }, "deny"],
    ["a member with a rule against it", "bob", "default", { deny: ["SendMessage(bob)"] }, "deny"],
  ] as const)("to %s, %s, in mode %s with %j: %s", async (_, to, mode, rules, behaviour) => {
    const { tool } = toolOf(await makeLivingTeam());
    const permissions = createPermissions({ mode, rules });
    const call = { tool: tool as Tool, input: { to, message: "x" }, cwd: "/", addedDirs: [] };
    const decision = await permissions.decide(call, AbortSignal.timeout(20_000));
    expect(decision.behaviour).toBe(behaviour);
    if (behaviour === "deny" && mode === "default" && to.startsWith("uds:"))
      expect(decision).toMatchObject({ reason: expect.stringContaining(`SendMessage(${to})`) });
  });

  it("asks about a socket where somebody is there to be asked", async () => {
    const { tool } = toolOf(await makeLivingTeam());
    const asked: unknown[] = [];
    const permissions = createPermissions({
      mode: "default",
      async ask(request) {
        asked.push(request);
        return { behaviour: "allow" };
      },
    });
    const call = (to: string) => ({
      tool: tool as Tool,
      input: { to, message: "x" },
      cwd: "/",
      addedDirs: [],
    });
    await permissions.decide(call("bob"), AbortSignal.timeout(20_000));
    await permissions.decide(call("uds:/run/a.sock"), AbortSignal.timeout(20_000));
    expect(asked).toMatchObject([{ tool: "SendMessage", rule: "SendMessage(uds:/run/a.sock)" }]);
  });

  it("needs a recipient and a text, and is shown on one line", async () => {
    const { tool } = toolOf(await makeLivingTeam());
    expect(tool.schema.safeParse({ to: "bob", message: "" }).success).toBe(false);
    expect(tool.schema.safeParse({ to: "", message: "x" }).success).toBe(false);
    expect(tool.summarise({ to: "bob\u001b[2J", message: "one\ntwo" })).toBe("→ bob[2J: one two");
    expect(tool.isReadOnly({ to: "bob", message: "x" })).toBe(false);
  });
});
