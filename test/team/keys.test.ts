import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createMemberKeys,
  keyPairFrom,
  saveMemberKey,
  senderFromEnv,
  userKeys,
} from "../../src/team/keys.js";
import { type MadeHome, makeHome } from "../cli/made-team.js";
import { bundleScript } from "../helpers/bundle.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

describe("userKeys", () => {
  it("makes one pair and keeps it, private to its owner", () => {
    const first = userKeys(made.home);
    expect(userKeys(made.home).publicKey).toBe(first.publicKey);
    const dir = path.join(made.home, "keys");
    expect(fs.readdirSync(dir)).toEqual(["user.pem"]);
    expect(fs.statSync(path.join(dir, "user.pem")).mode & 0o777).toBe(0o600);
    expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
  });

  it("ends with one pair when several processes make it at once", async () => {
    const script = bundleScript(path.join(import.meta.dirname, "../cli/processes/print-user-key.ts"));
    const printed = await Promise.all(Array.from({ length: 6 }, () => outputOf(script, made.home)));
    expect(new Set(printed).size).toBe(1);
    expect(printed[0]).toBe(userKeys(made.home).publicKey);
    expect(fs.readdirSync(path.join(made.home, "keys"))).toEqual(["user.pem"]);
  });

  it("says what is wrong with a damaged key or a home that is no directory", () => {
    fs.mkdirSync(path.join(made.home, "keys"));
    fs.writeFileSync(path.join(made.home, "keys/user.pem"), "rubbish");
    expect(() => userKeys(made.home)).toThrow(expect.objectContaining({ code: "key-unreadable" }));
    const file = path.join(made.root, "file");
    fs.writeFileSync(file, "");
    expect(() => userKeys(file)).toThrow(expect.objectContaining({ code: "bad-home" }));
  });
});

describe("senderFromEnv", () => {
  it("is the user outside of a teammate", () => {
    const sender = senderFromEnv({}, made.home);
    expect(sender).toMatchObject({ name: "user", privateKey: expect.anything() });
    expect(sender.team).toBeUndefined();
  });

  it("is the teammate inside of one, with its own key and without making the user's", async () => {
    const runDir = fs.mkdtempSync(path.join(made.root, "run-"));
    const keys = createMemberKeys();
    const keyFile = await saveMemberKey(runDir, keys);
    expect(fs.statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(keyPairFrom(keyFile).publicKey).toBe(keys.publicKey);
    const env = { TROUPE_AGENT_ID: "scout@demo", TROUPE_KEY_FILE: keyFile };
    expect(senderFromEnv(env, made.home)).toMatchObject({
      name: "scout",
      team: "demo",
      privateKey: expect.anything(),
    });
    expect(fs.existsSync(path.join(made.home, "keys"))).toBe(false);
  });

  it.each([undefined, "/nonexistent/key.pem"])("is unsealed, and says why, with the key file %s", (file) => {
    const sender = senderFromEnv({ TROUPE_AGENT_ID: "scout@demo", TROUPE_KEY_FILE: file }, made.home);
    expect(sender).toMatchObject({ name: "scout", unsealed: expect.any(String) });
    expect(sender.privateKey).toBeUndefined();
  });
});

async function outputOf(script: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, "close");
  return output;
}
