import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { createMailbox, type Message, newMessageId } from "../../mailbox/index.js";
import { temporaryDirectory } from "../helpers/temp.js";

/** The path of a new mailbox, removed after the test. */
export async function scratchMailbox(): Promise<string> {
  const dir = path.join(temporaryDirectory(), "mail", "reader");
  await createMailbox(dir);
  return dir;
}

/**
 * As `temporaryDirectory`, in memory where the system has that: for thousands of files, with which a disk that others use, too,
 * takes longer than a test may.
 */
export function quickDirectory(): string {
  if (!fs.existsSync("/dev/shm")) return temporaryDirectory();
  const directory = fs.mkdtempSync("/dev/shm/troupe-");
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** As `scratchMailbox`, in a `quickDirectory`. */
export async function quickMailbox(parent = quickDirectory()): Promise<string> {
  const dir = path.join(parent, "mail", "reader");
  await createMailbox(dir);
  return dir;
}

/** A valid message. */
export function letter(fields: Partial<Message> = {}): Message {
  return {
    v: 1,
    id: newMessageId(),
    from: "writer",
    to: "reader",
    sentAt: new Date().toISOString(),
    kind: "text",
    text: "hello",
    ...fields,
  };
}

/** Puts bytes straight into a room, as a foreign program might. */
export function plant(dir: string, room: string, name: string, content: string | Uint8Array): void {
  fs.writeFileSync(path.join(dir, room, name), content);
}

/** Waits for a condition, however busy the machine is. */
export function eventually<T>(look: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(look, { timeout: 20_000, interval: 10 });
}

/** The names in a room. */
export function names(dir: string, room: string): string[] {
  return fs.readdirSync(path.join(dir, room)).sort();
}

/** The claimant of a process that has certainly ended: its start time lies before this boot's first process. */
export const deadClaimant = `${process.pid}-1`;
