import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TranscriptRecord } from "../../src/agent/ports.js";
import { openTranscript, readTranscript } from "../../src/agent/transcript.js";

let dir: string;
let file: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
  file = path.join(dir, "transcript.jsonl");
});
afterEach(() => fs.rmSync(dir, { recursive: true }));

const heard = (words: string, ...messageIds: string[]): TranscriptRecord => ({
  type: "user",
  message: { role: "user", content: [{ type: "text", text: words }] },
  messageIds,
});
const said = (words: string, stopReason = "end_turn"): TranscriptRecord => ({
  type: "assistant",
  message: { role: "assistant", content: [{ type: "text", text: words }] },
  model: "m",
  stopReason,
});

async function write(...records: TranscriptRecord[]): Promise<void> {
  const transcript = await openTranscript(file);
  // Not awaited one by one: order is the transcript's promise.
  await Promise.all(records.map((record) => transcript.append(record)));
  await transcript.close();
}

test("records come back in order, from a file that is nobody else's", async () => {
  await write(heard("hi", "m1"), said("yes?"));
  await write(heard("more", "m2", "m3"));
  expect(await readTranscript(file)).toEqual({
    conversation: [heard("hi"), said("yes?"), heard("more")].map(({ message }) => message),
    messageIds: ["m1", "m2", "m3"],
    unanswered: ["m2", "m3"],
    skipped: 0,
  });
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  const [line] = fs.readFileSync(file, "utf8").split("\n");
  expect(JSON.parse(line ?? "")).toMatchObject({
    v: 1,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    type: "user",
  });
});

test("a transcript that does not exist is empty", async () => {
  expect(await readTranscript(file)).toEqual({
    conversation: [],
    messageIds: [],
    unanswered: [],
    skipped: 0,
  });
});

test("a torn last line is passed over, and the next writer starts on a line of its own", async () => {
  await write(heard("hi", "m1"), said("yes?"));
  fs.truncateSync(file, fs.statSync(file).size - 10);
  expect(await readTranscript(file)).toMatchObject({ messageIds: ["m1"], skipped: 1 });
  await write(said("again"));
  const { conversation, skipped } = await readTranscript(file);
  expect(conversation.at(-1)).toEqual(said("again").message);
  expect(conversation).toHaveLength(2);
  expect(skipped).toBe(1);
});

test("a line that is whole but for its newline is a record", async () => {
  await write(heard("hi", "m1"));
  fs.truncateSync(file, fs.statSync(file).size - 1);
  await write(said("yes?"));
  expect((await readTranscript(file)).conversation).toHaveLength(2);
});

test("long lines and lines that are no records", async () => {
  const long = "ü".repeat(1024 * 1024);
  await write(heard(long, "m1"));
  fs.appendFileSync(
    file,
    '7\n{"v":1}\n{"v":1,"type":"user","message":{"role":"assistant","content":[]}}\n\n',
  );
  const content = await readTranscript(file);
  expect(content.conversation).toEqual([heard(long).message]);
  expect(content.skipped).toBe(3);
});

test("an aborted answer does not answer the mail before it", async () => {
  await write(heard("hi", "m1"), said("I was ab", "aborted"), heard("go on", "m2"));
  expect((await readTranscript(file)).unanswered).toEqual(["m1", "m2"]);
});

test("what a crash left open is closed for resume", async () => {
  await write(heard("hi", "m1"), {
    type: "assistant",
    message: { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Bash", input: {} }] },
    model: "m",
    stopReason: "tool_use",
  });
  expect((await readTranscript(file)).conversation.at(-1)).toMatchObject({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "t1", is_error: true }],
  });
});

test("a record of a newer version is refused", async () => {
  fs.writeFileSync(file, '{"v":2,"type":"novel"}\n');
  await expect(readTranscript(file)).rejects.toMatchObject({ code: "transcript-version" });
});

test("a failed append is told, and the next one is tried", async () => {
  fs.symlinkSync("/dev/full", path.join(dir, "full"));
  // O_NOFOLLOW: not even the own directory's links.
  await expect(openTranscript(path.join(dir, "full"))).rejects.toThrow(/ELOOP|symbolic/);
  const transcript = await openTranscript("/dev/full");
  await expect(transcript.append(heard("hi"))).rejects.toThrow(/ENOSPC/);
  await expect(transcript.append(heard("hi"))).rejects.toThrow(/ENOSPC/);
  await transcript.close();
  await transcript.close();
});

test("what was withdrawn is neither in the conversation nor among the messages that came in", async () => {
  const call = { type: "tool_use" as const, id: "t1", name: "Bash", input: {} };
  const result = { type: "tool_result" as const, tool_use_id: "t1", content: "ok" };
  const asked: TranscriptRecord = {
    ...said("", "tool_use"),
    message: { role: "assistant", content: [call] },
  } as TranscriptRecord;
  const answered: TranscriptRecord = {
    type: "user",
    message: { role: "user", content: [result, { type: "text", text: "long mail" }] },
    messageIds: ["m2"],
  };
  for (const keepsResults of [true, false]) {
    fs.rmSync(file, { force: true });
    await write(heard("hi", "m1"), asked, answered, heard("more", "m3"));
    const transcript = await openTranscript(file);
    await transcript.withdraw({ messageIds: ["m2", "m3"], keepsResults });
    await transcript.close();
    const { conversation, ...rest } = await readTranscript(file);
    expect(rest).toEqual({ messageIds: ["m1"], unanswered: [], skipped: 0 });
    expect(conversation).toHaveLength(3);
    expect(conversation.at(-1)).toEqual({
      role: "user",
      content: [keepsResults ? result : expect.objectContaining({ tool_use_id: "t1", is_error: true })],
    });
    await write(heard("more, shorter", "m3"), said("yes"));
    expect(await readTranscript(file)).toMatchObject({ messageIds: ["m1", "m3"], unanswered: [] });
  }
});
