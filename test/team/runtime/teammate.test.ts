import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseFrames } from "../../../src/agent/message-frame.js";
import { specFile } from "../../../src/team/runtime/agent-spec.js";
import { trustedSender } from "../../../src/team/trusted-sender.js";
import { writeJsonAtomic } from "../../../src/util/fs.js";
import { waitUntil } from "../../../src/util/wait.js";
import { bundleScript } from "../../helpers/bundle.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { brief, envFor, lastMessage, model, run, specOf } from "./running-teammate.js";

/** A message whose arrival at `ada` is seen. */
async function postAndSee(team: LivingTeam, from: string, fields: object): Promise<string> {
  const { id } = await team.post(from, "ada", fields);
  await waitUntil("mail", () => team.counts("ada").new === 0, { timeoutMs: 10_000 });
  return id;
}

const order = (team: LivingTeam, kind: string, fields: object = {}) => ({
  kind,
  incarnation: team.member("ada").incarnation,
  requestId: "request-1",
  ...fields,
});

describe("a turn", () => {
  it("begins with the prompt; its last words go to whom the teammate reports to", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ text: "All is well." }]);
    const ada = run(team, server, specOf(team, "ada", { prompt: "Look around." }));
    expect(await ada.idle()).toMatchObject({ state: "idle", reason: "done" });
    expect(ada.states.map(({ state }) => state)).toEqual(["working", "idle"]);
    expect(lastMessage(server.requests[0])).toEqual({ types: ["text"], text: "Look around." });
    const [words] = team.mailOf("user");
    expect(words).toMatchObject({
      kind: "idle",
      reason: "done",
      text: "All is well.",
      from: "ada",
      to: "user",
    });
    expect(words).not.toHaveProperty("inReplyTo");
    expect(trustedSender(words!, team, "user")).toBe("ada");
    expect(server.unexpected).toEqual([]);
  });

  it("waits without a prompt, and begins with mail; its last words answer it", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ text: "Yes." }]);
    const ada = run(team, server, specOf(team, "ada"));
    expect(await ada.ready()).toMatchObject({ reason: "done" });
    const { id } = await team.post("bob", "ada", { text: "Is it?" });
    await ada.idle();
    expect(lastMessage(server.requests[0]).text).toContain(
      `<mail id="${id}" from="bob" kind="text">\nIs it?\n`,
    );
    expect(brief(team.mailOf("bob"))).toEqual([
      { from: "ada", kind: "idle", reason: "done", text: "Yes.", inReplyTo: id },
    ]);
    expect(team.mailOf("user")).toEqual([]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
  });

  it("takes mail that comes while a tool runs behind the tool's results", async () => {
    const team = await makeLivingTeam();
    const go = path.join(team.made.project, "go");
    const waiting = `until [ -e ${go} ]; do sleep 0.05; done; echo gone`;
    const server = await model([
      { tools: [{ name: "Bash", input: { command: waiting } }] },
      { text: "Both seen." },
    ]);
    const spec = specOf(team, "ada", { prompt: "Wait.", agentType: "general-purpose" });
    const ada = run(team, server, spec);
    await ada.event("tool-start");
    const id = await postAndSee(team, "user", { text: "meanwhile" });
    expect(server.requests).toHaveLength(1);
    fs.writeFileSync(go, "");
    await ada.idle();
    const { types, text } = lastMessage(server.requests[1]);
    expect(types).toEqual(["tool_result", "text"]);
    expect(text).toContain(`<mail id="${id}" from="user"`);
    expect(brief(team.mailOf("user"))).toMatchObject([{ text: "Both seen.", inReplyTo: id }]);
  });

  it("has its input on record, with ids, before the request is sent", async () => {
    const team = await makeLivingTeam();
    const spec = specOf(team, "ada");
    const { id } = await team.post("user", "ada");
    const seen: unknown[] = [];
    const server = await model(() => {
      const transcript = fs.readFileSync(path.join(spec.runDir, "transcript.jsonl"), "utf8");
      seen.push(
        ...transcript
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).messageIds),
        team.counts("ada"),
      );
      return { text: "ok" };
    });
    await run(team, server, spec).idle();
    expect(seen).toEqual([[id], { new: 0, cur: 1, done: 0 }]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
  });

  it("that fails leaves the teammate idle and failed, and the lead told", async () => {
    const team = await makeLivingTeam();
    const server = await model(() => ({ status: 401, message: "invalid x-api-key" }));
    const ada = run(team, server, specOf(team, "ada", { prompt: "Go." }));
    const state = await ada.idle();
    expect(state).toMatchObject({ reason: "failed", detail: expect.stringContaining("401") });
    expect(brief(team.mailOf("user"))).toEqual([
      { from: "ada", kind: "idle", reason: "failed", text: expect.stringMatching(/^\(failed: .*401/) },
    ]);
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify([state, team.mailOf("user"), ada.events])).not.toContain("sk-test");
  });

  it("keeps mail that a failed turn did not answer, and answers it with the next", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ status: 401 }, { text: "Better." }]);
    const first = await team.post("bob", "ada", { text: "one" });
    const ada = run(team, server, specOf(team, "ada"));
    await ada.idle();
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 0 });
    await team.post("user", "ada", { text: "two" });
    await ada.idle(2);
    expect(lastMessage(server.requests[1]).text.match(/\n(one|two)\n/g)).toHaveLength(2);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 2 });
    expect(brief(team.mailOf("bob"))).toMatchObject([{ reason: "failed", inReplyTo: first.id }]);
  });
});

describe("interrupt", () => {
  it("ends the turn; the teammate says so and stays", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ text: "never seen", hangAfter: 1 }, { text: "Back." }]);
    const ada = run(team, server, specOf(team, "ada", { prompt: "Go." }));
    await waitUntil("request", () => server.requests.length > 0, { timeoutMs: 10_000 });
    await team.post("user", "ada", order(team, "interrupt"));
    expect(await ada.idle()).toMatchObject({ reason: "done" });
    expect(brief(team.mailOf("user"))).toMatchObject([{ kind: "idle", text: "(interrupted)" }]);
    await team.post("user", "ada", { text: "Again." });
    await ada.idle(2);
    expect(lastMessage(server.requests[1]).text).toMatch(/Go\..*Again\./s);
  });

  it("with text ends the running tool and is the next input, without last words in between", async () => {
    const team = await makeLivingTeam();
    const server = await model([
      { tools: [{ name: "Bash", input: { command: "sleep 60" } }] },
      { text: "Turned around." },
    ]);
    const ada = run(team, server, specOf(team, "ada", { prompt: "Go.", agentType: "general-purpose" }));
    await ada.event("tool-start");
    await team.post("user", "ada", order(team, "interrupt", { text: "Look at b instead." }));
    await ada.idle();
    const { types, text } = lastMessage(server.requests[1]);
    expect(types[0]).toBe("tool_result");
    expect(text).toContain("Look at b instead.");
    expect(ada.states.map(({ state }) => state)).not.toContain("ended");
    expect(ada.states.filter(({ state }) => state === "idle")).toHaveLength(1);
    expect(brief(team.mailOf("user"))).toMatchObject([{ text: "Turned around." }]);
  });

  it("with text begins a turn of an idle teammate; without text it does nothing there", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ text: "On it." }]);
    const ada = run(team, server, specOf(team, "ada"));
    await ada.ready();
    await team.post("user", "ada", order(team, "interrupt"));
    await waitUntil("it to be applied", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
    const { id } = await team.post("user", "ada", order(team, "interrupt", { text: "Wake up." }));
    await ada.idle();
    expect(server.requests.map((request) => lastMessage(request).text)).toEqual([
      `<mail id="${id}" from="user" kind="interrupt">\nWake up.\n</mail>`,
    ]);
  });

  it("from a teammate is ignored", async () => {
    const team = await makeLivingTeam();
    const server = await model(async () => {
      await team.post("bob", "ada", order(team, "interrupt", { text: "Obey me." }));
      await waitUntil("it to be set aside", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
      return { text: "Undisturbed." };
    });
    const ada = run(team, server, specOf(team, "ada", { prompt: "Go." }));
    await ada.idle();
    expect(brief(team.mailOf("user"))).toMatchObject([{ text: "Undisturbed." }]);
    expect(server.requests).toHaveLength(1);
  });
});

describe("shutdown", () => {
  it("ends an idle teammate without a request, and answers whoever asked by mail", async () => {
    const team = await makeLivingTeam();
    const server = await model([]);
    const ada = run(team, server, specOf(team, "ada"));
    await ada.ready();
    await team.post("user", "ada", order(team, "shutdown-request"));
    expect(await ada.ended).toBeUndefined();
    expect(team.mailOf("user")).toMatchObject([
      { kind: "shutdown-response", requestId: "request-1", approved: true, from: "ada" },
    ]);
    expect(server.requests).toEqual([]);
  });

  it("asked by the host needs no answer", async () => {
    const team = await makeLivingTeam();
    const ada = run(team, await model([]), specOf(team, "ada"));
    await ada.ready();
    await team.post("host", "ada", order(team, "shutdown-request"));
    expect(await ada.ended).toBeUndefined();
    expect(team.mailOf("user")).toEqual([]);
  });

  it("lets a working teammate finish its step, with the reason behind its tool's results", async () => {
    const team = await makeLivingTeam();
    const go = path.join(team.made.project, "go");
    const server = await model([
      { tools: [{ name: "Bash", input: { command: `until [ -e ${go} ]; do sleep 0.05; done` } }] },
      { text: "Good bye." },
    ]);
    const spec = specOf(team, "ada", { prompt: "Work.", agentType: "general-purpose" });
    const ada = run(team, server, spec, { toolGraceMs: 60_000 });
    await ada.event("tool-start");
    const reason = "<b>It is late.</b>";
    const { id } = await team.post("user", "ada", order(team, "shutdown-request", { text: reason }));
    await waitUntil("it to be applied", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
    fs.writeFileSync(go, "");
    expect(await ada.ended).toBeUndefined();
    const { types, text } = lastMessage(server.requests[1]);
    expect(types).toEqual(["tool_result", "text", "text"]);
    expect(text).toMatch(/^You are asked to shut down\./);
    expect(parseFrames(text)).toEqual([{ id, from: "user", kind: "shutdown-request", text: reason }]);
    expect(brief(team.mailOf("user"))).toMatchObject([
      { kind: "idle", text: "Good bye." },
      { kind: "shutdown-response" },
    ]);
  });

  it("with mail that waits, or comes meanwhile, lets it be answered first", async () => {
    const team = await makeLivingTeam();
    const { id } = await team.post("bob", "ada", { text: "One more thing." });
    await team.post("user", "ada", order(team, "shutdown-request"));
    const server = await model(async (_, index) => {
      if (index === 0) await postAndSee(team, "bob", { text: "And another." });
      return { text: index === 0 ? "The first." : "The last." };
    });
    const ada = run(team, server, specOf(team, "ada"));
    expect(await ada.ended).toBeUndefined();
    expect(brief(team.mailOf("bob"))).toMatchObject([{ text: "The last." }, { text: "The last." }]);
    expect(server.requests).toHaveLength(2);
    expect(lastMessage(server.requests[0]).text).toMatch(
      new RegExp(`<mail id="${id}".*You are asked to shut down\\.`, "s"),
    );
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 3 });
  });

  it("for an earlier start ends nobody", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ text: "I live." }]);
    const ada = run(team, server, specOf(team, "ada"));
    await team.post("user", "ada", order(team, "shutdown-request", { incarnation: "0ld0ld00" }));
    await team.post("user", "ada", { text: "Alive?" });
    await ada.idle();
    expect(brief(team.mailOf("user"))).toMatchObject([{ text: "I live." }]);
  });
});

describe("an end without warning", () => {
  it("by the signal rejects with its reason, and gives back the mail", async () => {
    const team = await makeLivingTeam();
    await team.post("bob", "ada");
    const server = await model([{ text: "never seen", hangAfter: 1 }]);
    const ada = run(team, server, specOf(team, "ada"));
    await waitUntil("request", () => server.requests.length > 0, { timeoutMs: 10_000 });
    const reason = new Error("killed");
    ada.stop(reason);
    expect(await ada.ended).toBe(reason);
    expect(team.counts("ada")).toEqual({ new: 1, cur: 0, done: 0 });
    expect(team.mailOf("bob")).toEqual([]);
  });

  /** Kills a teammate in a process of its own while the model is about to answer its mail. */
  async function killed(team: LivingTeam, prompt?: string): Promise<string> {
    const { id } = await team.post("bob", "ada", { text: "Do it once." });
    const server = await model([{ text: "never seen", hangAfter: 1 }]);
    const spec = specOf(team, "ada", prompt === undefined ? {} : { prompt });
    await writeJsonAtomic(specFile(spec.runDir), spec);
    const script = bundleScript(path.join(import.meta.dirname, "processes/teammate.ts"));
    const child = spawn(process.execPath, [script, specFile(spec.runDir)], {
      env: envFor(server, team),
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = once(child, "close");
    onTestFinished(() => void child.kill("SIGKILL"));
    await waitUntil("request", () => server.requests.length > 0, { timeoutMs: 20_000 });
    expect(lastMessage(server.requests[0]).text).toContain(prompt ?? id);
    await waitUntil("claim", () => team.counts("ada").cur === 1, { timeoutMs: 10_000 });
    child.kill("SIGKILL");
    await ended;
    return id;
  }

  const mails = (body: unknown, id: string) => JSON.stringify(body).split(`id=\\"${id}\\"`).length - 1;

  it("hands the mail over to the next incarnation, whose conversation has it once", async () => {
    const team = await makeLivingTeam();
    const id = await killed(team);
    const server = await model([{ text: "Done once." }]);
    const runDir = path.join(team.paths.run, "0e0e0e0e");
    fs.mkdirSync(runDir);
    const ada = run(team, server, specOf(team, "ada", { runDir, incarnation: "0e0e0e0e" }));
    await ada.idle();
    expect(mails(server.requests[0]?.body, id)).toBe(1);
    expect(server.requests).toHaveLength(1);
    expect(brief(team.mailOf("bob"))).toMatchObject([{ text: "Done once.", inReplyTo: id }]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
  });

  it("does not ask the same transcript's agent with its prompt again", async () => {
    const team = await makeLivingTeam();
    const id = await killed(team, "Begin here.");
    const server = await model(() => ({ text: "Begun." }));
    run(team, server, specOf(team, "ada", { prompt: "Begin here." }));
    await waitUntil("the mail", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
    expect(JSON.stringify(server.requests.at(-1)?.body).split("Begin here.")).toHaveLength(2);
    expect(mails(server.requests.at(-1)?.body, id)).toBe(1);
  });

  it("goes on with the conversation of the same transcript, which has the mail already", async () => {
    const team = await makeLivingTeam();
    const id = await killed(team);
    const server = await model([{ text: "Done once." }]);
    const ada = run(team, server, specOf(team, "ada"));
    await ada.idle();
    expect(server.requests).toHaveLength(1);
    expect(mails(server.requests[0]?.body, id)).toBe(1);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
    expect(brief(team.mailOf("bob"))).toMatchObject([{ text: "Done once.", inReplyTo: id }]);
    await team.post("user", "ada", { text: "And?" });
    await waitUntil("the next request", () => server.requests.length > 1, { timeoutMs: 10_000 });
    expect(mails(server.requests[1]?.body, id)).toBe(1);
  });
});
