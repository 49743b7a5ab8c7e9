import { describe, expect, it } from "vitest";
import { type Message, openRouter } from "../../../mailbox/index.js";
import { parseFrames } from "../../../src/agent/message-frame.js";
import { waitUntil } from "../../../src/util/wait.js";
import type { ServerTurn } from "../../helpers/messages-server.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { brief, lastMessage, model, run, specOf } from "./running-teammate.js";

const sleeping: ServerTurn = { tools: [{ name: "Bash", input: { command: "sleep 600" } }] };

/** `ada`, in a call that takes ten minutes, with a message that has reached her meanwhile. */
async function sleeper(turns: readonly ServerTurn[] = []) {
  const team = await makeLivingTeam();
  const server = await model([sleeping, ...turns]);
  const ada = run(team, server, specOf(team, "ada", { prompt: "Sleep.", agentType: "general-purpose" }));
  await ada.event("tool-start");
  const { id } = await team.post("bob", "ada", { text: "when you have time" });
  await waitUntil("delivery", () => team.counts("ada").cur === 1, { timeoutMs: 10_000 });
  return { team, server, ada, id };
}

const order = (team: LivingTeam, kind: string, fields: object = {}) => ({
  kind,
  incarnation: team.member("ada").incarnation,
  requestId: "r1",
  ...fields,
});

describe("while a tool runs for ten minutes", () => {
  it("a shutdown-request ends tool and teammate; mail that waits is there for the next start", async () => {
    const { team, server, ada, id } = await sleeper();
    await team.post("user", "ada", order(team, "shutdown-request"));
    expect(await ada.ended).toBeUndefined();
    expect(server.requests).toHaveLength(1);
    expect(brief(team.mailOf("user"))).toMatchObject([
      { kind: "idle", text: "(interrupted)" },
      { kind: "shutdown-response" },
    ]);
    expect(team.counts("ada")).toEqual({ new: 1, cur: 0, done: 1 });
    expect(team.mailOf("ada").map((message) => message.id)).toContain(id);
  });

  it("an interrupt ends the tool; its words come behind the mail that waited", async () => {
    const { team, server, ada, id } = await sleeper([{ text: "Awake." }]);
    const { id: interrupt } = await team.post("user", "ada", order(team, "interrupt", { text: "Wake up." }));
    await ada.idle();
    const { types, text } = lastMessage(server.requests[1]);
    expect(types).toEqual(["tool_result", "text", "text"]);
    expect(parseFrames(text).map((frame) => frame.id)).toEqual([id, interrupt]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 2 });
  });

  it.each([
    ["with words", "Wake up."],
    ["without", undefined],
  ])("interrupts that come together, the first %s, lose none of their words", async (_, first) => {
    const { team, server, ada, id } = await sleeper([{ text: "Awake." }]);
    const sent: Message[] = [];
    for (const text of [first, "Look out.", "And listen."]) {
      const words = text === undefined ? {} : { text };
      sent.push(await team.post("user", "bob", order(team, "interrupt", { to: "ada", ...words })));
    }
    // All are there before any bell rings.
    const router = openRouter(team.paths.mail);
    for (const message of sent) router.deliverSync("ada", message);
    await ada.idle();
    const { text } = lastMessage(server.requests[1]);
    const said = sent.filter((message) => message.text !== undefined).map((message) => message.id);
    expect(parseFrames(text).map((frame) => frame.id)).toEqual([id, ...said]);
    expect(server.requests).toHaveLength(2);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 4 });
  });

  it("neither one for an earlier start nor one without authority ends anything, and mail waits", async () => {
    const { team, server, ada } = await sleeper();
    await team.post("user", "ada", order(team, "shutdown-request", { incarnation: "0ld0ld00" }));
    await team.post("bob", "ada", order(team, "interrupt", { text: "Obey me." }));
    await waitUntil("both to be set aside", () => team.counts("ada").done === 2, { timeoutMs: 10_000 });
    const warnings = ada.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
    expect(warnings).toEqual([
      "shutdown-request from user was ignored: it was meant for an earlier start of this teammate",
      "interrupt from bob was ignored: its sender has no authority",
    ]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 2 });
    expect(server.requests).toHaveLength(1);
    expect(ada.states.map(({ state }) => state)).not.toContain("idle");
    ada.stop(new Error("enough"));
    await ada.ended;
    expect(team.counts("ada")).toEqual({ new: 1, cur: 0, done: 2 });
  });
});
