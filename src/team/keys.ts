import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureKeyFile } from "../../mailbox/key-file.js";
import { messageOf, TroupeError } from "../util/errors.js";
import { writeFileAtomic } from "../util/fs.js";
import { badHome } from "./locate.js";

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

/** Makes the key pair of one incarnation. */
export function createMemberKeys(): KeyPair {
  return keyPairOf(generateKeyPairSync("ed25519").privateKey);
}

/** Keeps the private key of one incarnation in its run directory, which must exist and be its own; gives the file. */
export async function saveMemberKey(runDir: string, { privateKey }: KeyPair): Promise<string> {
  const keyFile = path.join(runDir, memberKeyFile);
  await writeFileAtomic(keyFile, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
  return keyFile;
}

/** Reads a private key file. Throws TroupeError `key-unreadable` where it is missing or no Ed25519 key. */
export function keyPairFrom(file: string): KeyPair {
  return keyPairOf(privateKeyFrom(file));
}

function keyPairOf(privateKey: KeyObject): KeyPair {
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

/** The private key alone, without working out the public one. Errors as {@link keyPairFrom}. */
export function privateKeyFrom(file: string): KeyObject {
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

/** Where the person's private key is, or would be. */
export function userKeyFile(home: string): string {
  return path.join(home, "keys", "user.pem");
}
