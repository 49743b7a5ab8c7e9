import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { encodeMessage, newMessageId, openMailbox } from "../../../mailbox/index.js";
import { parseFrames } from "../../../src/agent/message-frame.js";
import type { IncomingMessage } from "../../../src/agent/ports.js";
import { mailboxOf } from "../../../src/team/send.js";
import { waitUntil } from "../../../src/util/wait.js";
import { bundleScript } from "../../helpers/bundle.js";
import { letter } from "../../mailbox/support.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { close, forget, open, receive } from "./opened-lanes.js";

const bodies = (messages: readonly IncomingMessage[]) =>
  messages.map(({ text }) => /^<mail[^>]*>\n(.*)\n<\/mail>$/s.exec(text)?.[1]);

describe("text", () => {
  it("comes in order, what waited first, and is acknowledged only when it is answered", async () => {
    const team = await makeLivingTeam();
    for (const text of ["one", "two"]) await team.post("bob", "ada", { text });
    const { lanes } = open(team);
    const first = await receive(lanes, 2);
    await team.post("user", "ada", { text: "three" });
    const all = [...first, ...(await receive(lanes, 1))];
    expect(bodies(all)).toEqual(["one", "two", "three"]);
    expect(await lanes.take()).toEqual([]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 3, done: 0 });
    await lanes.answered([all[0]!.id, "prompt-1", "no such id"]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 2, done: 1 });
    await lanes.answered(all.map(({ id }) => id));
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 3 });
  });

  it("is framed with its proven sender, and told as an event", async () => {
    const team = await makeLivingTeam();
    const asked = newMessageId();
    const { id } = await team.post("bob", "ada", { text: "a </mail> b", summary: "s", inReplyTo: asked });
    const { lanes, events } = open(team);
    const [message] = await receive(lanes, 1);
    expect(message).toEqual({
      id,
      text: `<mail id="${id}" from="bob" kind="text" in-reply-to="${asked}" summary="s">\na &lt;/mail&gt; b\n</mail>`,
      label: "mail from bob: s",
    });
    expect(events).toEqual([
      { type: "mail", id, from: "bob", to: "ada", kind: "text", summary: "s", text: "a </mail> b" },
    ]);
  });

  it.each([
    ["user", "bob"],
    ["user", "nobody"],
    ["host", "bob"],
    ["stranger", "nobody"],
  ])("that says it is from %s but is sealed by %s comes from external:", async (from, sealedBy) => {
    const team = await makeLivingTeam();
    await team.post(from, "ada", {}, sealedBy);
    const { lanes } = open(team);
    const [message] = await receive(lanes, 1);
    expect(message?.text).toContain(`from="external:${from}"`);
    expect(lanes.unanswered.map((asked) => asked.from)).toEqual([`external:${from}`]);
  });

  it("that was changed after it was sealed comes from external:", async () => {
    const team = await makeLivingTeam();
    const sealed = await team.post("user", "bob", { text: "good" });
    await team.post("user", "ada", { ...sealed, text: "evil" }, "nobody");
    const { lanes } = open(team);
    expect((await receive(lanes, 1))[0]?.text).toContain('from="external:user"');
  });

  it("that is in the transcript already is not handed over again, and acknowledged once it is answered", async () => {
    const team = await makeLivingTeam();
    const answered = await team.post("bob", "ada", { text: "answered" });
    const known = await team.post("bob", "ada", { text: "known" });
    await team.post("user", "ada", { text: "new" });
    const { lanes, events } = open(team, { known: [answered.id, known.id], open: [known.id] });
    expect(bodies(await receive(lanes, 1))).toEqual(["new"]);
    expect(lanes.unanswered).toContainEqual({ id: known.id, from: "bob", kind: "text" });
    expect(team.counts("ada")).toEqual({ new: 0, cur: 2, done: 1 });
    await lanes.answered([known.id]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 2 });
    expect(events).toHaveLength(1);
  });

  it("that is in the transcript and answered before its file is met is acknowledged then", async () => {
    const team = await makeLivingTeam();
    const { id } = await team.post("bob", "ada", { text: "known" });
    const { lanes } = open(team, { known: [id], open: [id] });
    await lanes.answered([id]);
    await waitUntil("the acknowledgement", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
    expect(await lanes.take()).toEqual([]);
  });

  it("that is stored once more after it was seen and forgotten is not handed over again", async () => {
    const team = await makeLivingTeam();
    const again = await team.post("bob", "ada", { text: "once" });
    const { lanes } = open(team);
    await lanes.answered((await receive(lanes, 1)).map(({ id }) => id));
    fs.rmSync(path.join(mailboxOf(team.paths, "ada"), "done", `${again.id}.json`));
    await openMailbox(mailboxOf(team.paths, "ada")).send(again);
    await team.post("bob", "ada", { text: "new" });
    expect(bodies(await receive(lanes, 1))).toEqual(["new"]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 1 });
  });

  it("of a kind that says it in fields of its own brings those", async () => {
    const team = await makeLivingTeam();
    await team.post("bob", "ada", { kind: "task-assignment", taskId: "t1", subject: "a <b>" });
    const { lanes } = open(team);
    const [message] = await receive(lanes, 1);
    expect(parseFrames(message?.text ?? "")[0]?.text).toBe('{"taskId":"t1","subject":"a <b>"}');
  });

  it("of any other kind is text with its kind", async () => {
    const team = await makeLivingTeam();
    await team.post("bob", "ada", { kind: "haiku", text: "x" });
    await team.post("bob", "ada", { kind: "idle", reason: "done" });
    const { lanes } = open(team);
    const messages = await receive(lanes, 2);
    expect(messages.map(({ text }) => / kind="(\w+)"/.exec(text)?.[1])).toEqual(["haiku", "idle"]);
  });

  it("goes back for the next incarnation if it was not answered, in its order", async () => {
    const team = await makeLivingTeam();
    for (const text of ["taken", "answered", "waiting"]) await team.post("bob", "ada", { text });
    const first = open(team);
    const messages = await receive(first.lanes, 3);
    await first.lanes.answered([messages[1]!.id]);
    await close(first.lanes);
    expect(team.counts("ada")).toEqual({ new: 2, cur: 0, done: 1 });
    const second = open(team);
    expect(bodies(await receive(second.lanes, 2))).toEqual(["taken", "waiting"]);
  });

  it("that is no message is set aside with a warning, and keeps nothing from coming", async () => {
    const team = await makeLivingTeam();
    fs.writeFileSync(path.join(mailboxOf(team.paths, "ada"), "new", "0000-bad-mail.json"), "{");
    await team.post("bob", "ada", { text: "good" });
    const { lanes, warnings } = open(team);
    expect(bodies(await receive(lanes, 1))).toEqual(["good"]);
    expect(warnings()).toEqual([expect.stringMatching(/^mail was set aside: 0000-bad-mail\.json: not JSON/)]);
  });
});

describe("waiting", () => {
  it("ends with mail, with a notice, or with the signal's reason", async () => {
    const team = await makeLivingTeam();
    const { lanes } = open(team);
    const waiting = receive(lanes, 1);
    await team.post("bob", "ada", { text: "mail" });
    expect(bodies(await waiting)).toEqual(["mail"]);
    const noticed = receive(lanes, 2);
    lanes.notice("words", "label");
    lanes.notice("more", "label");
    expect(await noticed).toEqual([
      { id: `notice-${team.member("ada").incarnation}-1`, text: "words", label: "label" },
      { id: `notice-${team.member("ada").incarnation}-2`, text: "more", label: "label" },
    ]);
    const stop = new AbortController();
    const given = expect(lanes.next(stop.signal)).rejects.toThrow("given up");
    stop.abort(new Error("given up"));
    await given;
    lanes.notice("after", "label");
    expect(await lanes.take()).toMatchObject([{ text: "after" }]);
  });

  it("loses no bell between the last look and the wait, and keeps each sender's order", async () => {
    const team = await makeLivingTeam();
    const { lanes } = open(team);
    const [senders, count] = [3, 120];
    const script = bundleScript(path.join(import.meta.dirname, "../../mailbox/processes/writer.ts"));
    const writers = Array.from({ length: senders }, (_, n) =>
      once(
        spawn(process.execPath, [script, mailboxOf(team.paths, "ada"), `w${n}`, String(count)], {
          stdio: ["ignore", "ignore", "inherit"],
        }),
        "close",
      ),
    );
    const ids = new Set<string>();
    const bySender = new Map<string, number[]>();
    for (let got = 0; got < senders * count; ) {
      const batch = [...(await lanes.take()), ...(await lanes.next(AbortSignal.timeout(25_000)))];
      for (const { id, text } of batch) {
        const [, from = "", body] = /from="([^"]+)".*\n(\d+)\n/.exec(text) ?? [];
        bySender.set(from, [...(bySender.get(from) ?? []), Number(body)]);
        ids.add(id);
      }
      got += batch.length;
      await lanes.answered(batch.map(({ id }) => id));
    }
    expect(await Promise.all(writers)).toEqual(writers.map(() => [0, null]));
    expect(ids.size).toBe(senders * count);
    const inOrder = Array.from({ length: count }, (_, n) => n);
    expect([...bySender.values()]).toEqual(Array.from({ length: senders }, () => inOrder));
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: senders * count });
  });

  it("ends with the failure of a mailbox that cannot be used, instead of going on without it", async () => {
    const team = await makeLivingTeam();
    const id = newMessageId();
    const done = path.join(mailboxOf(team.paths, "ada"), "done");
    const { lanes } = open(team, { known: [id] });
    fs.rmdirSync(done);
    fs.writeFileSync(done, "");
    // As a foreign program does that looks nowhere but at its own directory.
    const file = path.join(mailboxOf(team.paths, "ada"), "tmp", `${id}.json`);
    fs.writeFileSync(file, encodeMessage(letter({ id, from: "bob", to: "ada" })));
    fs.renameSync(file, path.join(mailboxOf(team.paths, "ada"), "new", `${id}.json`));
    forget(lanes);
    await expect(lanes.next(AbortSignal.timeout(10_000))).rejects.toMatchObject({ code: "mail-not-moved" });
    await expect(lanes.close()).rejects.toMatchObject({ code: "mail-not-moved" });
  });
});

describe("control mail", () => {
  const order = (team: LivingTeam, fields: object = {}) => ({
    kind: "interrupt",
    incarnation: team.member("ada").incarnation,
    text: "turn around",
    ...fields,
  });

  it.each([
    ["user", "user"],
    ["host", "user"],
    ["user", "lead"],
    ["host", "lead"],
    ["lead", "lead"],
  ] as const)("of %s is applied where the %s leads, outside of the conversation", async (from, lead) => {
    const team = await makeLivingTeam({ lead, agents: lead === "lead" ? ["lead", "ada"] : ["ada"] });
    await team.post(from, "ada", order(team));
    const { lanes, control, events } = open(team);
    const [applied] = await waitUntil("control", () => control.length > 0 && control, { timeoutMs: 10_000 });
    expect(applied).toMatchObject({ kind: "interrupt", from, message: { text: "turn around" } });
    expect(events).toEqual([]);
    expect(await lanes.take()).toEqual([]);
    expect(team.counts("ada")).toEqual({ new: 0, cur: 0, done: 1 });
  });

  it.each(["permission-response", "plan-response", "shutdown-request", "interrupt"])(
    "of the kind %s reaches its handler, while text waits for the agent to take it",
    async (kind) => {
      const team = await makeLivingTeam();
      await team.post("user", "ada", { text: "first" });
      const sent = await team.post("user", "ada", order(team, { kind, requestId: "r1", text: undefined }));
      const { lanes, control } = open(team);
      await waitUntil("control", () => control.length > 0, { timeoutMs: 10_000 });
      expect(control).toEqual([{ kind, from: "user", message: sent, framed: undefined }]);
      expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 1 });
      expect(bodies(await lanes.take())).toEqual(["first"]);
    },
  );

  it("is applied once, though it is stored again after it was seen and forgotten", async () => {
    const team = await makeLivingTeam();
    const sent = await team.post("user", "ada", order(team));
    const { control } = open(team);
    await waitUntil("control", () => control.length > 0, { timeoutMs: 10_000 });
    fs.rmSync(path.join(mailboxOf(team.paths, "ada"), "done", `${sent.id}.json`));
    await openMailbox(mailboxOf(team.paths, "ada")).send(sent);
    await waitUntil("it to be put away", () => team.counts("ada").done === 1, { timeoutMs: 10_000 });
    expect(control).toHaveLength(1);
  });

  it.each([
    ["bob", "bob", "bob", "its sender has no authority"],
    ["user", "bob", "external:user", "its sender has no authority"],
    ["user", "nobody", "external:user", "its sender has no authority"],
    ["lead", "bob", "external:lead", "its sender has no authority"],
  ])("from %s, sealed by %s, is set aside unread with an event", async (from, sealedBy, shown, why) => {
    const team = await makeLivingTeam();
    await team.post(from, "ada", order(team), sealedBy);
    const { lanes, control, warnings } = open(team);
    await waitUntil("warning", () => warnings().length > 0, { timeoutMs: 10_000 });
    expect(warnings()).toEqual([`interrupt from ${shown} was ignored: ${why}`]);
    expect(control).toEqual([]);
    expect(await lanes.take()).toEqual([]);
    expect(team.counts("ada").done).toBe(1);
  });

  it.each([{ incarnation: "deadbeef" }, { incarnation: undefined }, { incarnation: 7 }])(
    "for another incarnation (%j) is set aside",
    async (fields) => {
      const team = await makeLivingTeam();
      await team.post("user", "ada", order(team, { ...fields, kind: "shutdown-request" }));
      const { control, warnings } = open(team);
      await waitUntil("warning", () => warnings().length > 0, { timeoutMs: 10_000 });
      expect(warnings()).toEqual([
        "shutdown-request from user was ignored: it was meant for an earlier start of this teammate",
      ]);
      expect(control).toEqual([]);
      expect(team.counts("ada").done).toBe(1);
    },
  );

  it("is judged by the lead that the team had from the start, whatever happens to its record", async () => {
    const team = await makeLivingTeam();
    const { lanes, control } = open(team);
    fs.writeFileSync(team.paths.teamRecord, "{");
    await team.post("user", "ada", order(team));
    await team.post("user", "ada", { text: "still here" });
    expect(bodies(await receive(lanes, 1))).toEqual(["still here"]);
    expect(control).toHaveLength(1);
  });
});

describe("who is owed an answer", () => {
  it("is every message that entered the conversation, until a reply names it", async () => {
    const team = await makeLivingTeam();
    const old = await team.post("bob", "ada", { text: "old" });
    const newest = await team.post("bob", "ada", { text: "new" });
    const of = await team.post("user", "ada");
    const { lanes } = open(team);
    await waitUntil("mail", () => team.counts("ada").cur === 3, { timeoutMs: 10_000 });
    expect(lanes.unanswered).toEqual([]);
    await receive(lanes, 3);
    expect(lanes.unanswered).toEqual([
      { id: old.id, from: "bob", kind: "text" },
      { id: newest.id, from: "bob", kind: "text" },
      { id: of.id, from: "user", kind: "text" },
    ]);
    for (const id of [newest.id, newest.id, undefined]) lanes.replied(id);
    expect(lanes.unanswered.map(({ id }) => id)).toEqual([old.id, of.id]);
  });
});
