import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeLivingTeam } from "../living-team.js";
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
