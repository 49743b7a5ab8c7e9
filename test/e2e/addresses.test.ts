import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace } from "../helpers/place.js";
import { memberIn } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

describe.each(["in-process", "tmux"])("addresses in a team in %s", (backend) => {
  test("a channel reaches its members, people and agents write to it, and all answer", async () => {
    const place = await makePlace();
    const socket = path.join(place.project, "s");
    const say = (to: string) => ({ tool: "SendMessage", input: { to, message: `to ${to}` } });
    const answers = (name: string) => ({ steps: [{ text: `${name} is ready.` }], mail: `${name} is here.` });
    place.write("team.yaml", {
      name: "talk",
      model: "offline",
      modelScript: "model.yaml",
      channels: { pair: ["ada", "bob", "user"] },
      teammates: [
        { name: "ada", agent: "general-purpose", prompt: "Begin." },
        { name: "bob", agent: "general-purpose", prompt: "Begin." },
        { name: "speaker", agent: "general-purpose", prompt: "Speak." },
      ],
    });
    place.write("model.yaml", {
      version: 1,
      delayMs: 5,
      agents: {
        ada: answers("ada"),
        bob: answers("bob"),
        speaker: {
          steps: [{ text: "I speak.", tools: [say("#pair"), say(`uds:${socket}`)] }, { text: "Said." }],
        },
        default: [{ text: "I look around." }],
      },
    });
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });
    await Promise.all(["ada", "bob", "speaker"].map((name) => memberIn(place, name, "idle")));

    // The agent's own: to the channel at once, to a socket not without permission.
    const { messages } = await place.json(["mail", "speaker"]);
    const [spoken] = messages.filter(({ to }: { to: string }) => to === "#pair");
    expect(spoken).toMatchObject({ sender: "speaker", text: "to #pair" });
    expect(spoken.recipients.map(({ name }: { name: string }) => name)).toEqual(["user", "ada", "bob"]);
    const logs = await place.troupe(["logs", "speaker"]);
    expect(logs.stdout).toMatch(/nobody is there to approve it/);
    const inbox = await place.json(["inbox", "--peek"]);
    expect(inbox.messages).toContainEqual(expect.objectContaining({ sender: "speaker", to: "#pair" }));

    const asked = await place.json(["send", "#pair", "ready?", "--wait", "replied", "--timeout", "60s"]);
    expect(asked).toMatchObject({
      to: "#pair",
      reached: true,
      receipt: "replied",
      deliveries: [
        { name: "ada", receipt: "replied" },
        { name: "bob", receipt: "replied" },
      ],
    });
    expect(asked.replies).toMatchObject([
      { sender: "ada", text: "ada is here." },
      { sender: "bob", text: "bob is here." },
    ]);

    // All of it as a thread, in which nothing is taken.
    const thread = await place.troupe(["mail", "user", "ada"]);
    expect(thread.stdout).toMatch(
      /user → #pair .*\n {2}│ ready\?\n\n {2}[\d: -]+ ada → user \[idle\] stored/,
    );

    expect(await place.troupe(["send", "#pare", "x"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("channels: #pair"),
    });
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
    const late = await place.json(["send", "#pair", "late", "--wait", "seen", "--timeout", "1s"]);
    expect(late).toMatchObject({ reached: false, receipt: "stored" });
    expect(await place.troupe(["send", "#pair", "late", "--require-running"])).toMatchObject({ code: 3 });
  });
});

test("a socket takes mail while a team runs, and is gone when its listener is", async () => {
  const place = await makePlace();
  place.write("team.yaml", { name: "one", teammates: [{ name: "ada", command: "sleep 60", service: true }] });
  expect(await place.troupe(["up", "team.yaml", "-d", "--backend", "in-process"])).toMatchObject({ code: 0 });
  const socket = path.join(place.project, "s");
  const listener = place.start(["inbox", "ada", "--listen", socket]);
  await until(() => fs.existsSync(socket), "the socket");
  expect(await place.troupe(["send", `uds:${socket}`, "hello"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^stored for uds:/),
  });
  expect((await place.troupe(["inbox", "ada"])).stdout).toMatch(/from external:user[^\n]*\n {2}hello/);
  listener.kill("SIGTERM");
  expect(await listener.finished).toMatchObject({ code: 143 });
  expect(fs.existsSync(socket)).toBe(false);
  expect(await place.troupe(["send", `uds:${socket}`, "late"])).toMatchObject({ code: 4 });
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});
