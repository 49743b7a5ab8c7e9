import fs from "node:fs";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { userKeys } from "../../src/team/keys.js";
import { locateTeam } from "../../src/team/locate.js";
import { createPostman, type Postman } from "../../src/team/postman.js";
import { readMember } from "../../src/team/records.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import { memberDoes, memberIn, stateOf } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

/** A team with an agent that is in a call of ten minutes. */
async function sleeper(backend: string): Promise<Place> {
  const place = await makePlace();
  place.write("team.yaml", {
    name: "sleepers",
    model: "offline",
    modelScript: "model.yaml",
    teammates: [
      { name: "one", agent: "general-purpose", prompt: "Begin.", permissionMode: "bypassPermissions" },
      // The team goes on while this one is there.
      { name: "other", agent: "general-purpose" },
    ],
  });
  const script = {
    steps: [{ text: "Good night.", tools: [{ tool: "Bash", input: { command: "sleep 600" } }] }],
    mail: "Read the mail from {{ from }}.",
  };
  place.write("model.yaml", { version: 1, delayMs: 5, agents: { one: script, other: script } });
  expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({
    code: 0,
    stderr: "",
  });
  await memberDoes(place, "one", /^Bash/);
  await until(() => sleeps(place) === 1, "the call runs");
  return place;
}

/** Writes as the user, and reads a member's record. */
function userOf(place: Place): { readonly mail: Postman; incarnation(name: string): string } {
  const team = locateTeam({ home: place.home, cwd: place.project, env: {}, team: undefined });
  return {
    mail: createPostman({ team, from: "user", privateKey: userKeys(place.home).privateKey }),
    incarnation: (name) => readMember(team.paths, name)?.incarnation ?? "",
  };
}

const sleeps = (place: Place) =>
  processesOf(place.home).filter(({ command }) => command.startsWith("sleep 600")).length;
const events = (place: Place) =>
  fs.readFileSync(path.join(stateOf(place).directory, "events.ndjson"), "utf8");

// Many commands one after another, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 });

describe.each(["in-process", "tmux"])("control mail in %s", (backend) => {
  test("interrupts an agent in a call of ten minutes at once, while text waits for the end of the call", async () => {
    const place = await sleeper(backend);
    const { mail, incarnation } = userOf(place);
    const line = ["send", "one", "when you can", "--id", "0123abcd", "--wait"];
    expect(await place.troupe([...line, "delivered", "--timeout", "60s"])).toMatchObject({ code: 0 });
    const early = await place.troupe([...line, "seen", "--timeout", "1s"]);
    expect(early).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^delivered before for one, not seen/),
    });
    expect(sleeps(place)).toBe(1);

    await mail.send("one", { kind: "interrupt", incarnation: incarnation("one"), text: "Wake up." });
    await memberIn(place, "one", "idle");
    expect(sleeps(place)).toBe(0);
    const logs = await place.troupe(["logs", "one"]);
    expect(logs.stdout).toMatch(
      /Good night\.[\s\S]*when you can[\s\S]*Wake up\.[\s\S]*Read the mail from user\./,
    );
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });

  test("ends it, and not the one that comes after it by the same name", async () => {
    const place = await sleeper(backend);
    const { mail, incarnation } = userOf(place);
    const old = incarnation("one");
    // The deadline is 30 s; a tool is not waited for so long.
    expect(await place.troupe(["stop", "one"])).toMatchObject({ code: 0, stdout: "one ended when asked\n" });
    expect(sleeps(place)).toBe(0);

    await mail.send("one", { kind: "shutdown-request", incarnation: old, requestId: "old" });
    expect(await place.troupe(["spawn", "one", "--agent", "general-purpose"])).toMatchObject({
      code: 0,
      stderr: "",
    });
    await until(
      () =>
        events(place).includes("shutdown-request from user was ignored: it was meant for an earlier start"),
      "news of the old request",
      () => events(place),
    );
    const answer = await place.troupe(["send", "one", "alive?", "--wait", "replied", "--timeout", "60s"]);
    expect(answer).toMatchObject({ code: 0, stdout: expect.stringMatching(/from one/) });
    expect(await memberIn(place, "one", "idle")).toMatchObject({ unread: 0 });
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });
});
