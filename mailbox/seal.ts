import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import fs from "node:fs";
import { messageOf, TroupeError } from "../src/util/errors.js";
import { canonicalJson } from "./canonical.js";
import { ensureKeyFile } from "./key-file.js";
import type { Message } from "./message.js";

/** An Ed25519 key pair; `publicKey` is PEM (SPKI) text, to be published in records. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: string;
}

/**
 * The key pair kept in `file` (the private key as PKCS #8 PEM, mode 0600); created there if missing. Of several processes
 * that create it at once all get the same. Throws TroupeError `key-unreadable`.
 */
export async function createKeyPair(file: string): Promise<KeyPair> {
  ensureKeyFile(file);
  return readKeyPair(file);
}

/** The key pair kept in `file`. Throws TroupeError `key-unreadable` where it is missing or not an Ed25519 key. */
export function readKeyPair(file: string): KeyPair {
  try {
    const privateKey = createPrivateKey(fs.readFileSync(file));
    if (privateKey.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 key");
    return { privateKey, publicKey: publicKeyOf(privateKey) };
  } catch (error) {
    throw new TroupeError("key-unreadable", `the key ${file} cannot be read: ${messageOf(error)}`, {
      remedy: "restore the file; removing it makes a new key, which earlier teams do not know",
      cause: error,
    });
  }
}

/** `message` with a seal over everything else in it. An earlier seal is replaced. */
export function sealMessage(message: Message, privateKey: KeyObject): Message {
  return { ...message, seal: sign(null, sealedBytes(message), privateKey).toString("base64url") };
}

/** Whether `message` carries a seal made with the private half of `publicKey` (PEM). Never throws for a bad message. */
export function verifySeal(message: Message, publicKey: string | KeyObject): boolean {
  const { seal } = message;
  if (seal === undefined) return false;
  const signature = Buffer.from(seal, "base64url");
  if (signature.length !== 64 || signature.toString("base64url") !== seal) return false;
  const key = typeof publicKey === "string" ? createPublicKey(publicKey) : publicKey;
  let bytes: Buffer;
  try {
    bytes = sealedBytes(message);
  } catch {
    return false; // a number beyond JSON's range has no canonical form, so nobody can have sealed it
  }
  return verify(null, bytes, key, signature);
}

function publicKeyOf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
}

/** The RFC 8785 form of the message without its seal. */
function sealedBytes(message: Message): Buffer {
  const { seal, ...rest } = message;
  return Buffer.from(canonicalJson(rest));
}
