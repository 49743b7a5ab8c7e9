import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureKeyFile } from "../../mailbox/key-file.js";
import type { Message } from "../../mailbox/message.js";
import { verifySeal } from "../../mailbox/seal.js";
import { messageOf, TroupeError } from "../util/errors.js";
import { fileNameOf, maxEncodedKeyBytes, nameKey } from "../util/name-key.js";
import { badHome, teamsNamed } from "./locate.js";
import type { TeamPaths } from "./paths.js";
import { readHostRecord, readMember } from "./records.js";

/** An Ed25519 key pair; `publicKey` as records hold it: base64url of its SPKI form. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: string;
}

/** Who a process writes as. Without a private key its messages go out unsealed. */
export interface Sender {
  readonly name: string;
  /** The sender's own team; absent for the user, who belongs to all teams. */
  readonly team?: string;
  readonly privateKey?: KeyObject;
  /** Why there is no private key, in one line. */
  readonly unsealed?: string;
}

/** The name of a member's private key file (PEM, 0600) in its run directory. */
export const memberKeyFile = "key.pem";

/**
 * The person's key pair in `TROUPE_HOME/keys`, made on first need; processes that make it at once end with the same one.
 * Throws TroupeError `bad-home` where it cannot be made and `key-unreadable` where it cannot be read.
 */
export function userKeys(home: string): KeyPair {
  return keyPairFrom(existingUserKey(home));
}

/** Makes the key pair of one incarnation in its run directory, which must exist; `keyFile` is where the private key is. */
export function createMemberKeys(runDir: string): KeyPair & { readonly keyFile: string } {
  const keyFile = path.join(runDir, memberKeyFile);
  ensureKeyFile(keyFile);
  return { ...keyPairFrom(keyFile), keyFile };
}

/** Reads a private key file. Throws TroupeError `key-unreadable` where it is missing or no Ed25519 key. */
export function keyPairFrom(file: string): KeyPair {
  const privateKey = privateKeyFrom(file);
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return { privateKey, publicKey: spki.toString("base64url") };
}

/**
 * Who this process is: the teammate that TROUPE_AGENT_ID (`name@team`) and TROUPE_KEY_FILE name, else the user, whose key is
 * made if it is missing. A teammate without a readable key sends unsealed, and `unsealed` says why.
 */
export function senderFromEnv(env: Readonly<Record<string, string | undefined>>, home: string): Sender {
  const self = identityFromEnv(env);
  if (!env["TROUPE_AGENT_ID"]) return { ...self, privateKey: privateKeyFrom(existingUserKey(home)) };
  const file = env["TROUPE_KEY_FILE"];
  if (!file) return { ...self, unsealed: "TROUPE_KEY_FILE is not set" };
  try {
    return { ...self, privateKey: privateKeyFrom(file) };
  } catch (error) {
    return { ...self, unsealed: messageOf(error) };
  }
}

/** Whom TROUPE_AGENT_ID names, or the user where it is not set. */
export function identityFromEnv(env: Readonly<Record<string, string | undefined>>): {
  readonly name: string;
  readonly team?: string;
} {
  const agentId = env["TROUPE_AGENT_ID"];
  if (!agentId) return { name: "user" };
  const { name, team } = splitAddress(agentId);
  return team === undefined ? { name } : { name, team };
}

/** `name@team` taken apart; `team` is undefined for a bare name. */
export function splitAddress(address: string): { readonly name: string; readonly team: string | undefined } {
  const at = address.lastIndexOf("@");
  return at === -1
    ? { name: address, team: undefined }
    : { name: address.slice(0, at), team: address.slice(at + 1) };
}

/**
 * Who a message is really from: the name as its member's record spells it (`name@team` for another team), `user` or `host`
 * if the seal proves it, else `external:` with the name it claims. Throws for nothing that a message may hold.
 */
export function trustedSender(message: Message, paths: TeamPaths): string {
  if (message.seal !== undefined)
    for (const candidate of candidates(message.from, paths))
      if (verifies(message, candidate.publicKey)) return candidate.name;
  return `external:${message.from}`;
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
  const current = unlessDamaged(() => privateKeyFrom(userKeyFile(paths.home)));
  if (current !== undefined) yield { name: "user", publicKey: createPublicKey(current) };
}

/** One damaged record must not keep its reader from all mail: what it cannot prove is external. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof TroupeError) return undefined;
    throw error;
  }
}

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

/** The file of the person's key, made if it is missing. */
function existingUserKey(home: string): string {
  const file = userKeyFile(home);
  try {
    ensureKeyFile(file);
  } catch (error) {
    throw badHome(home, error);
  }
  return file;
}

/** The private key alone: what a short command needs, without working out the public one. */
function privateKeyFrom(file: string): KeyObject {
  try {
    const key = createPrivateKey(fs.readFileSync(file));
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch (cause) {
    throw keyUnreadable(file, messageOf(cause), cause);
  }
  throw keyUnreadable(file, "not an Ed25519 key");
}

function keyUnreadable(file: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError("key-unreadable", `the key ${file} cannot be read: ${why}`, {
    remedy: "restore the file; removing it makes a new key, which earlier teams do not know",
    cause,
  });
}

function userKeyFile(home: string): string {
  return path.join(home, "keys", "user.pem");
}
