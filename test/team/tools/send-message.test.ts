import fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../../src/agent/tool.js";
import { createPostman } from "../../../src/team/postman.js";
import { mailboxOf } from "../../../src/team/send.js";
import { createSendMessageTool } from "../../../src/team/tools/send-message.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";

const asked = "0193aaaa-0000-7000-8000-000000000000";

/** The tool of `ada`, who was asked by bob; `log` holds whom she replied to. */
function toolOf(team: LivingTeam) {
  const log: string[] = [];
  const tool = createSendMessageTool({
    postman: createPostman({ team, from: "ada", privateKey: team.key("ada") }),
    asked: (to) => (to === "bob" ? asked : undefined),
    replied: (to) => void log.push(to),
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
    expect(log).toEqual(["bob"]);
  });

  it("answers what it is told to answer, or nothing where nothing was asked", async () => {
    const team = await makeLivingTeam();
    const { run, log } = toolOf(team);
    const other = asked.replace("aaaa", "bbbb");
    await run({ to: "bob", message: "x", inReplyTo: other });
    await run({ to: "lead", message: "y" });
    expect(team.mailOf("bob")).toMatchObject([{ inReplyTo: other }]);
    expect(team.mailOf("user")[0]).not.toHaveProperty("inReplyTo");
    expect(log).toEqual(["bob", "user"]);
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

  it("needs a recipient and a text, and is shown on one line", async () => {
    const { tool } = toolOf(await makeLivingTeam());
    expect(tool.schema.safeParse({ to: "bob", message: "" }).success).toBe(false);
    expect(tool.schema.safeParse({ to: "", message: "x" }).success).toBe(false);
    expect(tool.summarise({ to: "bob\u001b[2J", message: "one\ntwo" })).toBe("→ bob[2J: one two");
    expect(tool.isReadOnly({ to: "bob", message: "x" })).toBe(false);
  });
});
