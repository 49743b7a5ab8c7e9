import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parseFrames } from "../../../src/agent/message-frame.js";
import { makeLivingTeam } from "../living-team.js";
import { open, receive } from "./opened-lanes.js";
import { model, run, specOf } from "./running-teammate.js";

it("a teammate that was killed and goes on reaches no tool, mailbox or transcript", async () => {
  const team = await makeLivingTeam();
  const trace = path.join(team.made.project, "trace");
  let answer: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = await model(async (_, index) => {
    if (index === 0) return { tools: [{ name: "Bash", input: { command: "echo" } }] };
    await killed;
    return {
      tools: [
        { name: "SendMessage", input: { to: "bob", summary: "late", message: "I am still here" } },
        { name: "Write", input: { file_path: trace, content: "here" } },
      ],
    };
  });
  const revocation = new AbortController();
  const spec = specOf(team, "ada", { prompt: "Go on.", agentType: "general-purpose" });
  const ada = run(team, server, spec, { revoked: revocation.signal });
  await ada.event("tool-end");
  const transcript = path.join(spec.runDir, "transcript.jsonl");
  const { id } = await team.post("user", "ada", { text: "wait" });
  await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(2);
  const before = fs.readFileSync(transcript, "utf8");
  revocation.abort(new Error("ada was killed"));
  answer();
  expect(await ada.ended).toMatchObject({ message: "ada was killed" });
  expect(fs.readFileSync(transcript, "utf8")).toBe(before);
  expect(fs.existsSync(trace)).toBe(false);
  expect([team.mailOf("bob"), team.mailOf("user")]).toEqual([[], []]);
  expect(team.counts("ada").done, id).toBe(0);
});

it("a teammate that was killed and never settles gives its mail back, and takes no more", async () => {
  const team = await makeLivingTeam();
  const server = await model(() => ({ tools: [{ name: "Bash", input: { command: "sleep 600" } }] }));
  const revocation = new AbortController();
  const spec = specOf(team, "ada", { prompt: "Go on.", agentType: "general-purpose" });
  const ada = run(team, server, spec, { revoked: revocation.signal });
  await ada.event("tool-start");
  const { text } = await team.post("user", "ada", { text: "first" });
  await expect.poll(() => team.counts("ada").cur, { timeout: 20_000 }).toBe(1);
  revocation.abort(new Error("ada was killed"));
  await expect.poll(() => team.counts("ada"), { timeout: 20_000 }).toEqual({ new: 1, cur: 0, done: 0 });
  await team.post("user", "ada", { text: "second" });
  // The next start of its name gets all of it, in this process too.
  const { lanes } = open(team);
  const messages = await receive(lanes, 2);
  expect(messages.map((message) => parseFrames(message.text)[0]?.text)).toEqual([text, "second"]);
});
