import fs from "node:fs";
import path from "node:path";
import { errnoOf, messageOf, TroupeError } from "../src/util/errors.js";

/** The five directories of a mailbox; docs/mailbox-protocol.md says what each one means. */
export const rooms = ["tmp", "new", "cur", "done", "bad"] as const;

/** One directory of a mailbox. */
export type Room = (typeof rooms)[number];

/** What `mailbox.json` must state for this package to send to a mailbox or to read it. */
export const protocolVersion = 1;

/** The file that makes a directory a mailbox. */
export const descriptionFile = "mailbox.json";

/** What a message id looks like. */
export const idPattern = /^[0-9a-z][0-9a-z-]{7,63}$/;

/** A claimed file's name, taken apart. */
export interface ClaimName {
  readonly name: string;
  readonly id: string;
  readonly claimant: string;
}

/** The file name of a message everywhere but in `cur/` and `tmp/`. */
export function messageFile(id: string): string {
  return `${id}.json`;
}

/** The id that a file name stands for, or undefined if it is not a message's name. */
export function idOfFile(name: string): string | undefined {
  const id = name.endsWith(".json") ? name.slice(0, -5) : "";
  return idPattern.test(id) ? id : undefined;
}

/** The file name of a message claimed by `claimant` (see claimant.ts). */
export function claimFile(id: string, claimant: string): string {
  return `${id}~${claimant}.json`;
}

/** Takes a name from `cur/` apart, or undefined if it is not a claim's name. */
export function parseClaimFile(name: string): ClaimName | undefined {
  const tilde = name.indexOf("~");
  if (tilde === -1 || !name.endsWith(".json")) return undefined;
  const id = name.slice(0, tilde);
  return idPattern.test(id) ? { name, id, claimant: name.slice(tilde + 1, -5) } : undefined;
}

/**
 * Makes sure that `dir` is a mailbox of our protocol. Throws TroupeError `no-mailbox` (kind `not-found`),
 * `mailbox-version` or `mailbox-unreadable`, naming `subject`.
 */
export function checkMailbox(dir: string, subject = dir): void {
  let text: string;
  try {
    text = fs.readFileSync(path.join(dir, descriptionFile), "utf8");
  } catch (error) {
    throw mailboxError(subject, error);
  }
  const stated = protocolOf(text);
  if (stated === protocolVersion) return;
  throw new TroupeError(
    "mailbox-version",
    `the mailbox ${subject} speaks protocol ${stated ?? "unknown"}, this program ${protocolVersion}`,
    { remedy: "use the same version of troupe on both sides" },
  );
}

/** The error for a mailbox that could not be looked at: `no-mailbox` where it is missing. */
export function mailboxError(subject: string, cause: unknown): TroupeError {
  const code = errnoOf(cause);
  if (code === "ENOENT" || code === "ENOTDIR")
    return new TroupeError("no-mailbox", `there is no mailbox ${subject}`, {
      kind: "not-found",
      remedy: "check the name; sending never creates a mailbox",
      cause,
    });
  return new TroupeError("mailbox-unreadable", `the mailbox ${subject} cannot be read: ${messageOf(cause)}`, {
    remedy: "mend what the message says and try again; no mail was lost",
    cause,
  });
}

/** The names in one room, unsorted, dot files left out. Throws as {@link mailboxError}. */
export function listRoom(dir: string, room: Room): string[] {
  try {
    return fs.readdirSync(path.join(dir, room)).filter((name) => !name.startsWith("."));
  } catch (error) {
    throw mailboxError(dir, error);
  }
}

/** The claims in `cur/`, by id. Names that are not claims are left out. */
export function listClaims(dir: string): ClaimName[] {
  const claims = listRoom(dir, "cur").flatMap((name) => parseClaimFile(name) ?? []);
  return claims.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function protocolOf(text: string): string | number | undefined {
  try {
    const { protocol } = JSON.parse(text);
    return typeof protocol === "number" || typeof protocol === "string" ? protocol : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
