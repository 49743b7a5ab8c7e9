import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The built package `troupe/mailbox`.
 * @param {string} command the path of dist/bin.cjs
 * @returns {Promise<typeof import("../../mailbox/index.js")>}
 */
export function loadMailbox(command) {
  return import(mailboxUrl(command));
}

/** @param {string} command */
export function mailboxUrl(command) {
  return pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href;
}

/**
 * A message of some 350 bytes, or with a text of `size`.
 * @param {number} [size]
 */
export function letter(size = 200) {
  const sentAt = new Date().toISOString();
  /** @type {1} */
  const v = 1;
  return { v, id: randomUUID(), from: "bench", to: "user", sentAt, kind: "text", text: "x".repeat(size) };
}

/**
 * The directories of a mailbox that the floors need.
 * @param {string} dir
 */
export function bareMailbox(dir) {
  for (const room of ["tmp", "new"]) fs.mkdirSync(path.join(dir, room), { recursive: true });
  return dir;
}

/**
 * Makes mailboxes `m0`, `m1`, … below `root`; gives their names.
 * @param {typeof import("../../mailbox/index.js")} mailbox
 * @param {string} root
 * @param {number} count
 */
export async function makeMailboxes(mailbox, root, count) {
  const names = Array.from({ length: count }, (_, n) => `m${n}`);
  for (let n = 0; n < count; n += 50)
    await Promise.all(names.slice(n, n + 50).map((name) => mailbox.createMailbox(path.join(root, name))));
  return names;
}

/**
 * Has the file system write what it still owes, so that the next arm does not pay for the one before it.
 * @param {string} directory
 */
export function settle(directory) {
  const fd = fs.openSync(directory, "r");
  fs.fsyncSync(fd);
  fs.closeSync(fd);
}
