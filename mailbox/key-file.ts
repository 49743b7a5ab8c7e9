import { generateKeyPairSync } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errnoOf } from "../src/util/errors.js";
import { ensureDirSync, listIfExists } from "../src/util/fs.js";
import { selfIdentity } from "../src/util/process-identity.js";
import { claimantLiveness, claimantOf } from "./claimant.js";
import { syncDirectorySync, writeDraftSync } from "./draft.js";
import { removeLeftover } from "./message-file.js";
import { isLinkRefused, maxTries, pauseSync, underRenameLock } from "./rename-lock.js";

/**
 * Makes sure that `file` holds an Ed25519 private key (PKCS #8 PEM, mode 0600): one that is there is left as it is, of several
 * processes that make it at once all find the same. Drafts of makers that were killed are removed. Throws system errors.
 */
export function ensureKeyFile(file: string): void {
  const directory = path.dirname(file);
  const name = path.basename(file);
  const names = listIfExists(directory);
  tidy(
    directory,
    names.filter((other) => other.startsWith(draftPrefix(name))),
  );
  if (!names.includes(name)) createKeyFile(directory, name);
}

function createKeyFile(directory: string, name: string): void {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  ensureDirSync(directory);
  const maker = claimantOf(selfIdentity());
  const draft = writeDraftSync(directory, `${draftPrefix(name)}${maker}`, Buffer.from(pem));
  const file = path.join(directory, name);
  try {
    fs.linkSync(draft, file);
  } catch (error) {
    if (isLinkRefused(error)) renameOnce(draft, file);
    else if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    removeLeftover(draft);
  }
  syncDirectorySync(directory);
}

/** Renames `draft` to `file` unless somebody else was first. */
function renameOnce(draft: string, file: string): void {
  const lock = path.join(path.dirname(file), `.lock-${path.basename(file)}`);
  const rename = () => fs.existsSync(file) || fs.renameSync(draft, file);
  for (let tries = maxTries; underRenameLock(lock, rename) === "busy"; tries--) {
    if (tries === 0) throw new Error(`another process holds ${lock}`);
    pauseSync();
  }
}

/** Removes the drafts whose makers have ended; a draft is a private key, even if nobody uses it. */
function tidy(directory: string, drafts: readonly string[]): void {
  for (const draft of drafts) {
    const maker = draft.slice(draft.indexOf("~") + 1).split(".")[0] ?? "";
    if (claimantLiveness(maker, selfIdentity()) === "gone") removeLeftover(path.join(directory, draft));
  }
}

/** What the names of drafts begin with; the claimant that makes it follows, up to the next dot. */
function draftPrefix(name: string): string {
  return `.${name}~`;
}
