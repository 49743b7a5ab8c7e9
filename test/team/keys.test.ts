import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Message, newMessageId } from "../../mailbox/message.js";
import { sealMessage } from "../../mailbox/seal.js";
import {
  createMemberKeys,
  keyPairFrom,
  senderFromEnv,
  trustedSender,
  userKeys,
} from "../../src/team/keys.js";
import { memberFile, writeRecord } from "../../src/team/records.js";
import { selfIdentity } from "../../src/util/process-identity.js";
import { addMember, type MadeHome, makeHome, makeTeam, memberEnvironment } from "../cli/made-team.js";
import { bundleScript } from "../helpers/bundle.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function message(from: string, fields: Partial<Message> = {}): Message {
  return {
    v: 1,
    id: newMessageId(),
    from,
    to: "user",
    sentAt: new Date().toISOString(),
    kind: "text",
    text: "hello",
    ...fields,
  };
}

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

  it("is the teammate inside of one, with its own key and without making the user's", () => {
    const runDir = fs.mkdtempSync(path.join(made.root, "run-"));
    const { keyFile } = createMemberKeys(runDir);
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

describe("trustedSender", () => {
  it("gives the name in the record's spelling where the seal is the member's", async () => {
    const paths = await makeTeam(made, { members: [{ name: "Scout" }] });
    const scout = await addMember(paths, { name: "Scout" });
    const { privateKey } = keyPairFrom(memberEnvironment(paths, scout)["TROUPE_KEY_FILE"] ?? "");
    expect(trustedSender(sealMessage(message("scout"), privateKey), paths)).toBe("Scout");
  });

  it("gives the claimed name as external without a seal, or with another's", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }, { name: "mapper" }] });
    const mapper = await addMember(paths, { name: "mapper" });
    const { privateKey } = keyPairFrom(memberEnvironment(paths, mapper)["TROUPE_KEY_FILE"] ?? "");
    expect(trustedSender(message("scout"), paths)).toBe("external:scout");
    expect(trustedSender(sealMessage(message("scout"), privateKey), paths)).toBe("external:scout");
    expect(trustedSender(sealMessage(message("user"), privateKey), paths)).toBe("external:user");
    expect(trustedSender(sealMessage(message("nobody"), privateKey), paths)).toBe("external:nobody");
    const forged = { ...sealMessage(message("mapper"), privateKey), text: "changed" };
    expect(trustedSender(forged, paths)).toBe("external:mapper");
  });

  it("knows the user by the key of the home, too", async () => {
    const paths = await makeTeam(made);
    const { privateKey } = userKeys(made.home);
    expect(trustedSender(sealMessage(message("user"), privateKey), paths)).toBe("user");
    fs.rmSync(memberFile(paths, "user"));
    expect(trustedSender(sealMessage(message("user"), privateKey), paths)).toBe("user");
  });

  it("knows the host by its record", async () => {
    const paths = await makeTeam(made);
    const { privateKey, publicKey } = createMemberKeys(fs.mkdtempSync(path.join(made.root, "run-")));
    const sealed = sealMessage(message("host"), privateKey);
    expect(trustedSender(sealed, paths)).toBe("external:host");
    await writeRecord(paths.hostRecord, {
      v: 1,
      version: "0",
      process: selfIdentity(),
      publicKey,
      startedAt: new Date().toISOString(),
    });
    expect(trustedSender(sealed, paths)).toBe("host");
  });

  it("knows members of another team of the same home by name and team", async () => {
    const paths = await makeTeam(made);
    const other = await makeTeam(made, { name: "other", members: [{ name: "scout" }] });
    const scout = await addMember(other, { name: "scout" });
    const { privateKey } = keyPairFrom(memberEnvironment(other, scout)["TROUPE_KEY_FILE"] ?? "");
    expect(trustedSender(sealMessage(message("scout@Other"), privateKey), paths)).toBe("scout@other");
    expect(trustedSender(sealMessage(message("scout"), privateKey), paths)).toBe("external:scout");
    expect(trustedSender(sealMessage(message("scout@demo"), privateKey), paths)).toBe("external:scout@demo");
  });

  it("survives damaged records, keys and names", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }] });
    const { privateKey } = userKeys(made.home);
    await addMember(paths, { name: "odd", publicKey: "rubbish" });
    fs.writeFileSync(memberFile(paths, "scout"), "{");
    for (const from of [
      "scout",
      "odd",
      "x".repeat(500),
      "../user",
      "漢".repeat(100),
      "a@b@c",
      "@",
      "nul@\u2028",
    ])
      expect(trustedSender(sealMessage(message(from), privateKey), paths)).toBe(`external:${from}`);
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
