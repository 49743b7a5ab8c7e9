import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { maxTextBytes } from "../../../mailbox/index.js";
import { requestMessages } from "../../../src/agent/conversation.js";
import { parseFrames } from "../../../src/agent/message-frame.js";
import { readTranscript } from "../../../src/agent/transcript.js";
import { mailBounds } from "../../../src/team/runtime/mail-frame.js";
import { mailboxOf } from "../../../src/team/send.js";
import { waitUntil } from "../../../src/util/wait.js";
import type { LoggedRequest, ServerTurn } from "../../helpers/messages-server.js";
import { makeLivingTeam } from "../living-team.js";
import { close, open, receive } from "./opened-lanes.js";
import { brief, lastMessage, model, run, specOf } from "./running-teammate.js";

const tooLong: ServerTurn = { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" };
const size = (request: LoggedRequest | undefined) => JSON.stringify(request?.body.messages).length;
/** How often a request's conversation has a message. */
const times = (request: LoggedRequest | undefined, id: string) =>
  JSON.stringify(request?.body.messages).split(`<mail id=\\"${id}\\"`).length - 1;

describe("a text that is too long for a conversation", () => {
  it("is cut to whole characters, and all of it is in the file that is named", async () => {
    const team = await makeLivingTeam();
    const text = `x${"漢<".repeat(100_000)}`;
    const { id } = await team.post("bob", "ada", { text });
    const { lanes, outDir, events } = open(team);
    const [message] = await receive(lanes, 1);
    const [frame] = parseFrames(message?.text ?? "");
    const file = path.join(outDir, `mail-${id}.txt`);
    expect(frame?.cut).toBe(`the beginning of ${Buffer.byteLength(text)} bytes; all of it: ${file}`);
    expect(fs.readFileSync(file, "utf8")).toBe(text);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(text.startsWith(frame?.text ?? "-")).toBe(true);
    expect(Buffer.byteLength(frame?.text ?? "")).toBeGreaterThan(mailBounds.text - 4);
    expect(Buffer.byteLength(frame?.text ?? "")).toBeLessThanOrEqual(mailBounds.text);
    expect(events).toMatchObject([{ type: "mail", text: frame?.text }]);
  });

  it.each([
    ["summary", { text: "short", summary: "s".repeat(mailBounds.text) }],
    ["field of its own", { kind: "haiku", lines: ["l".repeat(mailBounds.text)] }],
  ])("is cut also in a %s", async (_, fields) => {
    const team = await makeLivingTeam();
    await team.post("bob", "ada", fields);
    const { lanes } = open(team);
    const [message] = await receive(lanes, 1);
    expect(Buffer.byteLength(message?.text ?? "")).toBeLessThan(mailBounds.text + 1000);
    expect(parseFrames(message?.text ?? "")[0]?.cut).toBeDefined();
  });

  it("is handed over whole where it cannot be kept, which is told", async () => {
    const team = await makeLivingTeam();
    const text = "x".repeat(mailBounds.text + 1);
    await team.post("bob", "ada", { text });
    const { lanes, outDir, warnings } = open(team);
    fs.rmSync(outDir, { recursive: true });
    const [message] = await receive(lanes, 1);
    expect(parseFrames(message?.text ?? "")).toMatchObject([{ text }]);
    expect(warnings()).toEqual([
      expect.stringMatching(/^mail from bob is not cut, since its text cannot be kept: /),
    ]);
  });
});

describe("more mail than a request should carry", () => {
  it("comes in order over several requests, all of it, and is seen as it is answered", async () => {
    const team = await makeLivingTeam();
    const go = path.join(team.made.project, "go");
    const server = await model((_, index) =>
      index === 0
        ? { tools: [{ name: "Bash", input: { command: `until [ -e ${go} ]; do sleep 0.05; done` } }] }
        : { text: "Noted." },
    );
    const ada = run(team, server, specOf(team, "ada", { prompt: "Wait.", agentType: "general-purpose" }));
    await ada.event("tool-start");
    const ids: string[] = [];
    const text = "y".repeat(maxTextBytes);
    while (ids.length < 18)
      ids.push((await team.post("bob", "ada", { text, summary: String(ids.length) })).id);
    await waitUntil("all to be delivered", () => team.counts("ada").cur === 18, { timeoutMs: 20_000 });
    fs.writeFileSync(go, "");
    await ada.idle();
    const arrived = server.requests.slice(1).map((request) => parseFrames(lastMessage(request).text));
    expect(arrived.length).toBeGreaterThan(4);
    expect(arrived.flat().map(({ id }) => id)).toEqual(ids);
    for (const request of server.requests)
      expect(lastMessage(request).text.length).toBeLessThan(mailBounds.request + 4096);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 18 });
  });

  it("leaves no message waiting for ever because it is larger than all of a request's share", async () => {
    const team = await makeLivingTeam();
    for (const name of ["one", "two"])
      await team.post("bob", "ada", { text: `${name}${'"'.repeat(mailBounds.text - 3)}`, summary: name });
    const { lanes } = open(team);
    await waitUntil("both", () => team.counts("ada").cur === 2, { timeoutMs: 10_000 });
    const sizes = [await lanes.take(), await lanes.take(), await lanes.take()].map(({ length }) => length);
    expect(sizes).toEqual([1, 1, 0]);
  });

  it("that was not taken when the teammate ended is there for the next start", async () => {
    const team = await makeLivingTeam();
    for (let n = 0; n < 6; n++) await team.post("bob", "ada", { text: "z".repeat(mailBounds.text) });
    const first = open(team);
    await waitUntil("all", () => team.counts("ada").cur === 6, { timeoutMs: 10_000 });
    const taken = await first.lanes.take();
    await first.lanes.answered(taken.map(({ id }) => id));
    await close(first.lanes);
    expect(team.counts("ada")).toEqual({ new: 6 - taken.length, cur: 0, done: taken.length });
  });
});

describe("a request that is too long for the model", () => {
  it("is sent again with its mail cut short, behind the results of the tools that have run", async () => {
    const team = await makeLivingTeam();
    const text = "long ".repeat(5000);
    const ids: string[] = [];
    const server = await model(async (request, index) => {
      if (index === 0) {
        ids.push((await team.post("bob", "ada", { text, summary: "news" })).id);
        await waitUntil("delivery", () => team.counts("ada").cur === 1, { timeoutMs: 10_000 });
        return { tools: [{ name: "Bash", input: { command: "echo did run" } }] };
      }
      return size(request) > 20_000 ? tooLong : { text: "I shall read it." };
    });
    const spec = specOf(team, "ada", { prompt: "Go.", agentType: "general-purpose" });
    const ada = run(team, server, spec);
    expect(await ada.idle()).toMatchObject({ reason: "done" });
    const [id = ""] = ids;
    expect(server.requests).toHaveLength(3);
    expect(times(server.requests[1], id)).toBe(1);
    const { types, text: last } = lastMessage(server.requests[2]);
    expect(types).toEqual(["tool_result", "text"]);
    expect(JSON.stringify(server.requests[2]?.body.messages.at(-1))).toContain("did run");
    const [frame] = parseFrames(last);
    const file = path.join(spec.runDir, "out", `mail-${id}.txt`);
    expect(frame).toMatchObject({ id, from: "bob", summary: "news", text: text.slice(0, mailBounds.again) });
    expect(frame?.cut).toContain(file);
    expect(fs.readFileSync(file, "utf8")).toBe(text);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
    expect(brief(team.mailOf("bob"))).toMatchObject([
      { text: "I shall read it.", reason: "done", inReplyTo: id },
    ]);
    const record = await readTranscript(path.join(spec.runDir, "transcript.jsonl"));
    expect(JSON.stringify(requestMessages(record.conversation))).toBe(
      JSON.stringify([...server.requests[2]!.body.messages, record.conversation.at(-1)]).replaceAll(
        /,?"cache_control":\{[^}]*\}/g,
        "",
      ),
    );
  });

  it("fails once for mail that cannot be made short enough: its sender is told, and it burdens no later request", async () => {
    const team = await makeLivingTeam();
    const server = await model((request) =>
      lastMessage(request).text.includes("poison") ? tooLong : { text: "Well." },
    );
    const ada = run(team, server, specOf(team, "ada"));
    const { id } = await team.post("bob", "ada", { text: "poison" });
    expect(await ada.idle()).toMatchObject({
      reason: "failed",
      detail: expect.stringContaining("prompt is too long"),
    });
    expect(brief(team.mailOf("bob"))).toMatchObject([{ kind: "idle", reason: "failed", inReplyTo: id }]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 0 });
    expect(ada.events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        level: "warning",
        text: expect.stringContaining("next start"),
      }),
    );
    const other = await team.post("user", "ada", { text: "and you?" });
    expect(await ada.idle(2)).toMatchObject({
      reason: "failed",
      detail: expect.stringMatching(/^mail .* waits/),
    });
    expect(brief(team.mailOf("user"))).toMatchObject([
      { reason: "done", text: "Well.", inReplyTo: other.id },
    ]);
    expect(server.requests.map((request) => times(request, id))).toEqual([1, 0]);

    // Not lost: the next start, whose conversation is another one, is given it.
    ada.stop(new Error("enough"));
    await ada.ended;
    expect(team.counts("ada")).toEqual({ new: 1, cur: 0, done: 1 });
  });

  it("without end ends nobody: every message is tried, told of as failed, and kept", async () => {
    const team = await makeLivingTeam();
    const server = await model(() => tooLong);
    const ada = run(team, server, specOf(team, "ada", { prompt: "Go." }));
    await ada.idle();
    for (const turn of [2, 3]) {
      await team.post("bob", "ada", { text: `message ${turn}` });
      await ada.idle(turn);
    }
    expect(server.requests).toHaveLength(3);
    expect(server.requests.map((request) => request.body.messages.length)).toEqual([1, 1, 1]);
    expect(brief(team.mailOf("bob"))).toMatchObject([{ reason: "failed" }, { reason: "failed" }]);
    expect(brief(team.mailOf("user"))).toMatchObject([{ reason: "failed" }]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 2, done: 0 });
  });

  it("is tried once more by a process that goes on with the same record", async () => {
    const team = await makeLivingTeam();
    const { id } = await team.post("bob", "ada", { text: "poison" });
    const first = run(team, await model(() => tooLong), specOf(team, "ada"));
    await first.idle();
    first.stop(new Error("enough"));
    await first.ended;
    const server = await model([{ text: "It fits now." }]);
    const second = run(team, server, specOf(team, "ada"));
    await second.idle();
    expect(times(server.requests[0], id)).toBe(1);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
    expect(brief(team.mailOf("bob"))).toMatchObject([
      { reason: "failed" },
      { reason: "done", inReplyTo: id },
    ]);
    expect(fs.readdirSync(path.join(mailboxOf(team.paths, "ada"), "bad"))).toEqual([]);
  });
});
