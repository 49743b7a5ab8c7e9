import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parseFrames } from "../../../src/agent/message-frame.js";
import { specFile } from "../../../src/team/runtime/agent-spec.js";
import { writeJsonAtomic } from "../../../src/util/fs.js";
import { waitUntil } from "../../../src/util/wait.js";
import { bundleScript } from "../../helpers/bundle.js";
import { makeLivingTeam } from "../living-team.js";
import { envFor, model, run, specOf } from "./running-teammate.js";

it.each([
  ["before the user record", true],
  ["within the user record", true],
  ["after the user record", true],
  ["before the request", true],
  ["after the request", true],
  ["before the assistant record", true],
  ["within the assistant record", true],
  ["after the assistant record", false],
  ["before the acknowledgement", false],
  ["after the acknowledgement", false],
] as const)(
  "killed %s, a teammate goes on with its record: mail is in its conversation once, and seen once it is answered",
  async (edge, asksAgain) => {
    const team = await makeLivingTeam();
    const spec = specOf(team, "ada");
    await writeJsonAtomic(specFile(spec.runDir), spec);
    const { id } = await team.post("bob", "ada", { text: "Do it once." });
    const server = await model(() => ({ text: "Done once." }));
    const script = bundleScript(path.join(import.meta.dirname, "processes/killed-at.ts"));
    const child = spawn(process.execPath, [script, specFile(spec.runDir), edge], {
      env: envFor(server, team),
      stdio: ["ignore", "ignore", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
    expect(team.counts("ada").done).toBe(edge === "after the acknowledgement" ? 1 : 0);

    const before = server.requests.length;
    const ada = run(team, server, spec);
    await (asksAgain ? ada.idle() : ada.ready());
    await waitUntil("it to be seen", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
    expect(server.requests.length - before).toBe(asksAgain ? 1 : 0);

    // What the model is given from now on has it once, and so has the record.
    await team.post("user", "ada", { text: "And?" });
    await ada.idle(asksAgain ? 2 : 1);
    const { messages } = server.requests.at(-1)?.body ?? {};
    const texts = messages.flatMap(({ content }: { content: { text?: string }[] }) =>
      content.map(({ text = "" }) => text),
    );
    expect(texts.flatMap(parseFrames).filter((frame: { id: string }) => frame.id === id)).toHaveLength(1);
    const lines = fs.readFileSync(path.join(spec.runDir, "transcript.jsonl"), "utf8");
    expect(lines.split(`"messageIds":["${id}"]`)).toHaveLength(2);
  },
);
