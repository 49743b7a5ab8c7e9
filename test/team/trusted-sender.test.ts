import { createPrivateKey, type KeyObject } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../mailbox/canonical.js";
import { encodeMessage, type Message, newMessageId, parseMessage } from "../../mailbox/message.js";
import { sealMessage } from "../../mailbox/seal.js";
import { createMemberKeys, keyPairFrom, userKeys } from "../../src/team/keys.js";
import type { LocatedTeam } from "../../src/team/locate.js";
import { memberFile, readMember, readTeamRecord, writeRecord } from "../../src/team/records.js";
import { trustedSender } from "../../src/team/trusted-sender.js";
import { selfIdentity } from "../../src/util/process-identity.js";
import { addMember, makeTeam } from "../cli/made-team.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

/** A message to ada in `team` with a seal that fits it. */
function sealed(team: LocatedTeam, from: string, key: KeyObject, fields: Partial<Message> = {}): Message {
  return sealMessage(
    {
      v: 1,
      id: newMessageId(),
      from,
      to: "ada",
      team: team.paths.dirName,
      sentAt: new Date().toISOString(),
      kind: "text",
      text: "hello",
      ...fields,
    },
    key,
  );
}

/** Another team of the same person, with the member `scout` and, by default, one named as in the first. */
async function otherTeam(team: LivingTeam, members = ["scout", "ada", "bob"]) {
  const paths = await makeTeam(team.made, { name: "other", members: members.map((name) => ({ name })) });
  const key = (name: string): KeyObject =>
    keyPairFrom(path.join(paths.run, readMember(paths, name)!.incarnation, "key.pem")).privateKey;
  return { paths, record: readTeamRecord(paths), key };
}

describe("a sender is trusted", () => {
  it("by the seal of its member, in its record's spelling", async () => {
    const team = await makeLivingTeam({ agents: ["ada", "Scout"] });
    expect(trustedSender(sealed(team, "scout", team.key("scout")), team, "ada")).toBe("Scout");
  });

  it.each(["user", "host", "bob"])("as %s, by its own seal", async (name) => {
    const team = await makeLivingTeam();
    expect(trustedSender(sealed(team, name, team.key(name)), team, "ada")).toBe(name);
  });

  it("as the user by the key of the home, too", async () => {
    const team = await makeLivingTeam();
    const message = sealed(team, "user", team.key("user"));
    fs.rmSync(memberFile(team.paths, "user"));
    expect(trustedSender(message, team, "ada")).toBe("user");
  });

  it("as the host by the record of the one that runs", async () => {
    const team = await makeLivingTeam();
    const { privateKey, publicKey } = createMemberKeys();
    const message = sealed(team, "host", privateKey);
    expect(trustedSender(message, team, "ada")).toBe("external:host");
    const startedAt = new Date().toISOString();
    await writeRecord(team.paths.hostRecord, {
      v: 1,
      version: "0",
      process: selfIdentity(),
      publicKey,
      startedAt,
    });
    expect(trustedSender(message, team, "ada")).toBe("host");
  });

  it("as a member of another team of the same home, by name and team", async () => {
    const team = await makeLivingTeam();
    const { key } = await otherTeam(team);
    const from = (name: string) => trustedSender(sealed(team, name, key("scout")), team, "ada");
    expect(from("scout@Other")).toBe("scout@other");
    expect(from("scout")).toBe("external:scout");
    expect(from("scout@demo")).toBe("external:scout@demo");
    expect(from("bob")).toBe("external:bob");
  });

  it("in mail to everybody, and to a channel by those who are in it alone", async () => {
    const team = await makeLivingTeam({ agents: ["ada", "Bob", "cid"] });
    const withChannel: LocatedTeam = {
      ...team,
      record: { ...team.record, channels: { Review: ["bob", "ada"] } },
    };
    const senderIn = (owner: string, to: string) =>
      trustedSender(sealed(team, "user", team.key("user"), { to }), withChannel, owner);
    expect(["ada", "Bob", "cid"].map((name) => senderIn(name, "*"))).toEqual(["user", "user", "user"]);
    expect(["ADA", "Bob", "cid"].map((name) => senderIn(name, "#review"))).toEqual([
      "user",
      "user",
      "external:user",
    ]);
    expect(senderIn("ada", "#other")).toBe("external:user");
    expect(senderIn("ada", "review")).toBe("external:user");
  });
});

describe("a sender is external", () => {
  it("without a seal, with another's, and under a name that nobody has", async () => {
    const team = await makeLivingTeam();
    const { seal: _seal, ...plain } = sealed(team, "user", team.key("user"));
    expect(trustedSender(plain, team, "ada")).toBe("external:user");
    for (const from of ["user", "host", "lead", "nobody"])
      expect(trustedSender(sealed(team, from, team.key("bob")), team, "ada")).toBe(`external:${from}`);
  });

  it("by the key of a start that has been followed by another", async () => {
    const team = await makeLivingTeam();
    const message = sealed(team, "bob", team.key("bob"));
    expect(trustedSender(message, team, "ada")).toBe("bob");
    await addMember(team.paths, { name: "bob", incarnation: "0b0b0b0b" });
    expect(trustedSender(message, team, "ada")).toBe("external:bob");
  });

  it("in a message to another member that was copied here, or was to everybody and is addressed anew", async () => {
    const team = await makeLivingTeam();
    const key = team.key("user");
    expect(trustedSender(sealed(team, "user", key, { to: "bob" }), team, "ada")).toBe("external:user");
    const toAll = sealed(team, "user", key, { to: "*" });
    expect(trustedSender({ ...toAll, to: "ada" }, team, "ada")).toBe("external:user");
  });

  it("in a message that was sealed for another team, though the person's key is the same there", async () => {
    const team = await makeLivingTeam();
    const other = await otherTeam(team);
    for (const to of ["ada", "*"]) {
      const message = sealed(other, "user", team.key("user"), { to });
      expect(trustedSender(message, other, "ada")).toBe("user");
      expect(trustedSender(message, team, "ada")).toBe("external:user");
      expect(trustedSender({ ...message, team: team.paths.dirName }, team, "ada")).toBe("external:user");
    }
    const nowhere = sealed(team, "user", team.key("user"), { team: undefined });
    expect(trustedSender(nowhere, team, "ada")).toBe("external:user");
  });

  it("where any field was changed, added or left out after the sealing", async () => {
    const team = await makeLivingTeam();
    const original = sealed(team, "user", team.key("user"), {
      kind: "interrupt",
      summary: "s",
      inReplyTo: newMessageId(),
      incarnation: "01234567",
      extra: { list: [1, "two", null] },
    });
    expect(trustedSender(original, team, "ada")).toBe("user");
    const { seal: _seal, ...plain } = original;
    const change = fc.record({
      field: fc.oneof(fc.constantFrom(...Object.keys(plain)), fc.string()),
      value: fc.option(fc.oneof(fc.jsonValue(), fc.string()), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const changed: Record<string, unknown> = { ...original };
        for (const { field, value } of changes)
          if (field !== "seal") {
            if (value === undefined) delete changed[field];
            else
              Object.defineProperty(changed, field, {
                value,
                enumerable: true,
                configurable: true,
                writable: true,
              });
          }
        fc.pre(canonicalJson(changed) !== canonicalJson(original));
        // As its reader gets it, if it gets it at all.
        const read = parseMessage(Buffer.from(JSON.stringify(changed)), `${String(changed["id"])}.json`);
        fc.pre(read.type === "message");
        const { message } = read as Extract<typeof read, { type: "message" }>;
        expect(trustedSender(message, team, "ada")).toBe(`external:${message.from}`);
      }),
      { numRuns: 500 },
    );
  });

  it("where the seal itself was changed in any way", async () => {
    const team = await makeLivingTeam();
    const original = sealed(team, "user", team.key("user"));
    const seal = original.seal ?? "";
    const other = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.constantFrom(`${seal}=`, ` ${seal}`, `${seal}\n`, `${seal}${seal}`, seal.slice(1), ""),
      fc
        .nat({ max: seal.length - 1 })
        .map((at) => `${seal.slice(0, at)}${seal[at] === "A" ? "B" : "A"}${seal.slice(at + 1)}`),
    );
    fc.assert(
      fc.property(other, (changed) => {
        fc.pre(changed !== seal);
        expect(trustedSender({ ...original, seal: changed }, team, "ada")).toBe("external:user");
      }),
      { numRuns: 300 },
    );
  });

  it("where records, keys or names are damaged, which keeps nobody from reading", async () => {
    const team = await makeLivingTeam({ agents: ["ada", "bob"] });
    await addMember(team.paths, { name: "odd", publicKey: "rubbish" });
    const message = sealed(team, "bob", team.key("bob"));
    fs.writeFileSync(memberFile(team.paths, "bob"), "{");
    const names = [
      "bob",
      "odd",
      "x".repeat(500),
      "../user",
      "漢".repeat(100),
      "a@b@c",
      "@",
      "nul@\u2028",
      "#all",
      "*",
    ];
    for (const from of names)
      expect(trustedSender(sealed(team, from, team.key("user")), team, "ada")).toBe(`external:${from}`);
    fs.rmSync(memberFile(team.paths, "bob"));
    fs.mkdirSync(memberFile(team.paths, "bob"));
    expect(trustedSender(message, team, "ada")).toBe("external:bob");
  });
});

it("a message with odd names and values is judged alike before and after it was stored", async () => {
  const team = await makeLivingTeam();
  const odd = { "\u2028": -0, big: 1e21, "\ud800": "\udfff", __proto__x: null };
  for (const by of ["bob", "user"]) {
    const message = sealed(team, "bob", team.key(by), odd);
    const read = parseMessage(encodeMessage(message), `${message.id}.json`);
    const sender = by === "bob" ? "bob" : "external:bob";
    expect(read.type === "message" && trustedSender(read.message, team, "ada")).toBe(sender);
  }
});

it("a seal proves the key and not who used it: a program of the same user that reads it seals as its owner", async () => {
  const team = await makeLivingTeam();
  const pem = fs.readFileSync(path.join(team.made.home, "keys", "user.pem"), "utf8");
  expect(trustedSender(sealed(team, "user", createPrivateKey(pem)), team, "ada")).toBe("user");
});

it("the person's key that made a team is known by its record", async () => {
  const team = await makeLivingTeam();
  const message = sealed(team, "user", userKeys(team.made.home).privateKey);
  fs.rmSync(path.join(team.made.home, "keys"), { recursive: true });
  expect(trustedSender(message, team, "ada")).toBe("user");
});
