import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { waitForReplies } from "../../mailbox/receipts.js";
import { type Asker, type Awaited, awaitReceipts } from "../../src/team/await-receipts.js";
import { mailboxOf, type Sent } from "../../src/team/send.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

const id = "asked000";

function sentTo(...names: readonly string[]): Sent {
  const [only = ""] = names;
  const to = names.length === 1 ? only : "*";
  return { id, from: "user", to, deliveries: names.map((name) => ({ name, outcome: "stored" })) };
}

function awaitReply(team: LivingTeam, sent: Sent, timeoutMs: number, asker?: Asker): Promise<Awaited> {
  const { signal } = new AbortController();
  return awaitReceipts({ sent, team, asker: asker ?? { name: "user", team } }, "replied", timeoutMs, signal);
}

test("an answer counts only where its seal proves that it is from one who was asked", async () => {
  const team = await makeLivingTeam();
  await team.post("nobody", "user", { text: "forged", inReplyTo: id, id: "reply-01" }, "nobody");
  await team.post("ada", "user", { text: "forged", inReplyTo: id, id: "reply-02" }, "bob");
  await team.post("bob", "user", { text: "unasked", inReplyTo: id, id: "reply-03" });
  const early = await awaitReply(team, sentTo("ada"), 50);
  expect(early).toMatchObject({ reached: false, replies: [] });
  expect(early.notes?.map((note) => note.split(" and does not count")[0]).sort()).toEqual([
    "the answer #reply-01 is from external:nobody",
    "the answer #reply-02 is from external:ada",
    "the answer #reply-03 is from bob",
  ]);
  const waiting = awaitReply(team, sentTo("ada"), 60_000);
  await team.post("ada", "user", { text: "yes", inReplyTo: id });
  expect(await waiting).toMatchObject({ reached: true, replies: [{ text: "yes", sender: "ada" }] });
});

test("of a group each must have answered", async () => {
  const team = await makeLivingTeam();
  await team.post("ada", "user", { text: "one", inReplyTo: id });
  await team.post("ada", "user", { text: "two", inReplyTo: id });
  const early = await awaitReply(team, sentTo("ada", "bob"), 50);
  expect(early).toMatchObject({ reached: false, deliveries: [{ receipt: "replied" }, { name: "bob" }] });
  await team.post("bob", "user", { text: "three", inReplyTo: id });
  const reached = { reached: true, notes: [] };
  for (const names of [
    ["ada", "bob"],
    ["bob", "ada"],
  ]) {
    const replies = names.map((sender) => ({ sender }));
    expect(await awaitReply(team, sentTo(...names), 60_000)).toMatchObject({ ...reached, replies });
  }
});

test("a mailbox of the asker that cannot be read is told, and how far the message got", async () => {
  const team = await makeLivingTeam();
  fs.renameSync(path.join(mailboxOf(team.paths, "user"), "new"), path.join(team.made.root, "away"));
  const awaited = await awaitReply(team, sentTo("ada"), 60_000);
  expect(awaited).toMatchObject({ reached: false, receipt: "unknown", replies: [] });
  expect(awaited.notes).toEqual([expect.stringContaining("answers cannot be looked for")]);
});

test("a look into a large mailbox ends with the time, or the signal", async () => {
  const team = await makeLivingTeam();
  const dir = mailboxOf(team.paths, "user");
  const count = 3000;
  for (let n = 0; n < count; n++) fs.writeFileSync(path.join(dir, "done", `seen-${1000 + n}.json`), "{");
  const opening = vi.spyOn(fs, "openSync");
  onTestFinished(() => opening.mockRestore());
  expect(await waitForReplies(dir, id, () => false, 0)).toEqual([]);
  expect(opening.mock.calls.length).toBeLessThan(count / 2);
  const ending = new AbortController();
  const waiting = waitForReplies(dir, id, () => false, 3_600_000, ending.signal);
  setImmediate(() => ending.abort(new Error("enough")));
  await expect(waiting).rejects.toThrow("enough");
  expect(opening.mock.calls.length).toBeLessThan(count);
});
