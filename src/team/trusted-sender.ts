import { createPublicKey, type KeyObject } from "node:crypto";
import type { Message } from "../../mailbox/message.js";
import { verifySeal } from "../../mailbox/seal.js";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { fileNameOf, maxEncodedKeyBytes, nameKey } from "../util/name-key.js";
import { delay } from "../util/wait.js";
import { isInChannel } from "./channels.js";
import { keyPairFrom, splitAddress, userKeyFile } from "./keys.js";
import { type LocatedTeam, teamsNamed } from "./locate.js";
import type { TeamPaths } from "./paths.js";
import { readHostRecord, readMember } from "./records.js";

/**
 * Who a message in the mailbox of `owner` is really from: the name as its member's record spells it (`name@team` for another
 * team), `user` or `host` where the seal proves it and the message was meant for this mailbox; else `external:` with the
 * name it claims. Throws for nothing that a message may hold; TroupeError `sender-not-known-yet` where the system fails for the
 * moment to read a record or key, which must neither prove nor disprove anything.
 */
export function trustedSender(message: Message, team: LocatedTeam, owner: string): string {
  if (message.seal !== undefined && isMeantFor(message, team, owner))
    for (const candidate of candidates(message.from, team.paths))
      if (verifies(message, candidate.publicKey)) return candidate.name;
  return `external:${message.from}`;
}

/**
 * As {@link trustedSender}; where that cannot tell for the moment, which `onWait` is told, a promise that tries again until it
 * can, or rejects with the signal's reason.
 */
export function senderOnceKnown(
  message: Message,
  team: LocatedTeam,
  owner: string,
  onWait: (error: TroupeError) => void,
  { againMs = 1000 }: { readonly againMs?: number | undefined },
  signal: AbortSignal,
): string | Promise<string> {
  try {
    return trustedSender(message, team, owner);
  } catch (error) {
    if (!(error instanceof TroupeError) || error.code !== notKnownYet) throw error;
    onWait(error);
    return delay(againMs, signal).then(() =>
      senderOnceKnown(message, team, owner, onWait, { againMs }, signal),
    );
  }
}

/**
 * A seal says who wrote a message, and the message says for whom: copied into another mailbox, or into one of another team,
 * it proves nothing. The person's key is one for all teams, so the address alone would not do.
 */
function isMeantFor(
  { to, team: sealedFor }: Message,
  { paths, record }: LocatedTeam,
  owner: string,
): boolean {
  if (sealedFor !== paths.dirName) return false;
  return to === "*" || nameKey(to) === nameKey(owner) || isInChannel(record, to, owner);
}

interface Candidate {
  readonly name: string;
  readonly publicKey: KeyObject;
}

/** Whose keys may seal for a claimed name. A generator, so that the usual key costs one file. */
function* candidates(claimed: string, paths: TeamPaths): Generator<Candidate> {
  const { name, team } = splitAddress(claimed);
  if (team === undefined) {
    yield* candidatesIn(name, paths);
    return;
  }
  for (const other of unlessDamaged(() => teamsNamed(paths.home, team)) ?? [])
    for (const candidate of candidatesIn(name, other.paths))
      yield { ...candidate, name: `${candidate.name}@${other.record.name}` };
}

function* candidatesIn(name: string, paths: TeamPaths): Generator<Candidate> {
  const key = nameKey(name);
  if (fileNameOf(name).length > maxEncodedKeyBytes) return;
  const record = unlessDamaged(() => (key === "host" ? readHostRecord(paths) : readMember(paths, name)));
  const publicKey = record === undefined ? undefined : publicKeyFrom(record.publicKey);
  if (publicKey !== undefined)
    yield { name: record !== undefined && "name" in record ? record.name : key, publicKey };
  if (key !== "user") return;
  // The key that the person has now, where it is not the one that the team was started with.
  const current = unlessDamaged(() => keyPairFrom(userKeyFile(paths.home)));
  if (current !== undefined) yield { name: "user", publicKey: createPublicKey(current.privateKey) };
}

/** One damaged record must not keep its reader from all mail: what it cannot prove is external. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const errno = errnoOf(error instanceof TroupeError ? error.cause : error);
    if (errno !== undefined && passing.includes(errno))
      throw new TroupeError(
        notKnownYet,
        `who mail is from cannot be told for the moment: ${messageOf(error)}`,
        {
          cause: error,
          remedy: "nothing is lost: it is tried again",
        },
      );
    if (error instanceof TroupeError || errno !== undefined) return undefined;
    throw error;
  }
}

const notKnownYet = "sender-not-known-yet";

/** Failures of the system that say nothing about the file. */
const passing: readonly string[] = [
  "EMFILE",
  "ENFILE",
  "EIO",
  "ENOMEM",
  "EAGAIN",
  "EINTR",
  "EBUSY",
  "ESTALE",
];

function publicKeyFrom(base64url: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(base64url, "base64url"), format: "der", type: "spki" });
  } catch {
    return undefined; // a key that is none proves nothing
  }
}

function verifies(message: Message, publicKey: KeyObject): boolean {
  try {
    return verifySeal(message, publicKey);
  } catch {
    return false; // a key of another kind proves nothing
  }
}
