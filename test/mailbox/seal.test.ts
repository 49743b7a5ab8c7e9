import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeMessage, parseMessage } from "../../mailbox/message.js";
import { createKeyPair, readKeyPair, sealMessage, verifySeal } from "../../mailbox/seal.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { letter } from "./support.js";

describe("seals", () => {
  test("survive the way through a file, whatever the order of the fields", async () => {
    const key = await createKeyPair(path.join(temporaryDirectory(), "key.pem"));
    const sealed = sealMessage(
      letter({ text: "ü\u2028😀", extra: { b: 1e21, a: [0.1, -0] } }),
      key.privateKey,
    );
    const parsed = parseMessage(encodeMessage(sealed), `${sealed.id}.json`);
    if (parsed.type !== "message") throw new Error(parsed.type);
    expect(verifySeal(parsed.message, key.publicKey)).toBe(true);
    const shuffled = Object.fromEntries(Object.entries(parsed.message).reverse()) as typeof parsed.message;
    expect(verifySeal(shuffled, key.publicKey)).toBe(true);
  });

  test("do not fit a changed message, another key, or rubbish", async () => {
    const directory = temporaryDirectory();
    const key = await createKeyPair(path.join(directory, "a.pem"));
    const other = await createKeyPair(path.join(directory, "b.pem"));
    const sealed = sealMessage(letter(), key.privateKey);
    expect(verifySeal(sealed, other.publicKey)).toBe(false);
    expect(verifySeal(letter(), key.publicKey)).toBe(false);
    expect(verifySeal({ ...sealed, huge: Number.POSITIVE_INFINITY }, key.publicKey)).toBe(false);
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (field, value) => {
        if (field === "seal" || JSON.stringify(sealed[field]) === JSON.stringify(value)) return;
        expect(verifySeal({ ...sealed, [field]: value }, key.publicKey)).toBe(false);
      }),
    );
    fc.assert(fc.property(fc.string(), (seal) => !verifySeal({ ...sealed, seal }, key.publicKey)));
  });

  test("have one form only: trailing bits that base64 ignores do not make another seal", async () => {
    const key = await createKeyPair(path.join(temporaryDirectory(), "key.pem"));
    const sealed = sealMessage(letter(), key.privateKey);
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = digits.indexOf(sealed.seal?.at(-1) ?? "");
    const twin = `${sealed.seal?.slice(0, -1)}${digits[last + 1]}`;
    expect(Buffer.from(twin, "base64url")).toEqual(Buffer.from(sealed.seal ?? "", "base64url"));
    for (const seal of [twin, `${sealed.seal}==`])
      expect(verifySeal({ ...sealed, seal }, key.publicKey)).toBe(false);
  });
});

describe("key pairs", () => {
  test("are created once, private, and read back", async () => {
    const file = path.join(temporaryDirectory(), "key.pem");
    const pairs = await Promise.all(Array.from({ length: 5 }, () => createKeyPair(file)));
    expect(new Set(pairs.map((pair) => pair.publicKey)).size).toBe(1);
    expect(readKeyPair(file).publicKey).toBe(pairs[0]?.publicKey);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(path.dirname(file))).toEqual(["key.pem"]);
  });

  test("that cannot be read are told, not replaced", async () => {
    const file = path.join(temporaryDirectory(), "key.pem");
    expect(() => readKeyPair(file)).toThrow(expect.objectContaining({ code: "key-unreadable" }));
    fs.writeFileSync(file, "rubbish");
    await expect(createKeyPair(file)).rejects.toMatchObject({ code: "key-unreadable" });
    expect(fs.readFileSync(file, "utf8")).toBe("rubbish");
  });
});
