import { generateKeyPairSync, type KeyObject } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Message, newMessageId, openMailbox, sealMessage } from "../../mailbox/index.js";
import { keyPairFrom, memberKeyFile, userKeys } from "../../src/team/keys.js";
import type { LocatedTeam } from "../../src/team/locate.js";
import {
  type MemberRecord,
  readMember,
  readTeamRecord,
  type TeamRecord,
  writeRecord,
} from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { selfIdentity } from "../../src/util/process-identity.js";
import { type MadeHome, makeHome, makeTeam } from "../cli/made-team.js";

/** A team on disk, with the keys of all who may write; removed when the running test is over. */
export interface LivingTeam extends LocatedTeam {
  readonly made: MadeHome;
  /** The private key of `user`, `host` or a member. */
  key(name: string): KeyObject;
  member(name: string): MemberRecord;
  /** Stores a message from `from`, sealed with a key, or that of `sealedBy` (by default its own; `nobody`: unsealed). */
  post(from: string, to: string, fields?: Partial<Message>, sealedBy?: string | KeyObject): Promise<Message>;
  /** What is in a member's mailbox, whatever its state; oldest first. */
  mailOf(name: string): readonly Message[];
  counts(name: string): { readonly new: number; readonly cur: number; readonly done: number };
}

/** `user` and the named agents; with `lead: "lead"` put `lead` among them. */
export async function makeLivingTeam(
  options: {
    readonly lead?: "user" | "lead";
    readonly agents?: readonly string[];
    readonly channels?: TeamRecord["channels"];
  } = {},
): Promise<LivingTeam> {
  const { lead = "user", agents = ["ada", "bob"] } = options;
  const made = makeHome();
  onTestFinished(() => fs.rmSync(made.root, { recursive: true, force: true }));
  const paths = await makeTeam(made, {
    lead,
    members: agents.map((name) => ({ name, kind: "agent", what: "general-purpose" })),
  });
  const record = readTeamRecord(paths);
  if (options.channels !== undefined)
    await writeRecord(paths.teamRecord, { ...record, channels: options.channels });
  const hostKeys = generateKeyPairSync("ed25519");
  await writeRecord(paths.hostRecord, {
    v: 1,
    version: "0",
    process: selfIdentity(),
    publicKey: hostKeys.publicKey.export({ format: "der", type: "spki" }).toString("base64url"),
    startedAt: new Date().toISOString(),
  });
  const member = (name: string): MemberRecord => {
    const record = readMember(paths, name);
    if (record === undefined) throw new Error(`the test's team has no ${name}`);
    return record;
  };
  const key = (name: string): KeyObject => {
    if (name === "host") return hostKeys.privateKey;
    if (name === "user") return userKeys(made.home).privateKey;
    return keyPairFrom(path.join(paths.run, member(name).incarnation, memberKeyFile)).privateKey;
  };
  const mailbox = (name: string) => openMailbox(mailboxOf(paths, name));
  return {
    made,
    paths,
    record: readTeamRecord(paths),
    key,
    member,
    async post(from, to, fields = {}, sealedBy = from) {
      const plain: Message = {
        v: 1,
        id: newMessageId(),
        from,
        to,
        team: paths.dirName,
        sentAt: new Date().toISOString(),
        kind: "text",
        ...(fields.kind === undefined ? { text: "hello" } : {}),
        ...fields,
      };
      const by = typeof sealedBy === "string" && sealedBy !== "nobody" ? key(sealedBy) : sealedBy;
      const message = typeof by === "string" ? plain : sealMessage(plain, by);
      await mailbox(to).send(message);
      return message;
    },
    mailOf: (name) =>
      mailbox(name)
        .peek(["new", "cur", "done"])
        .messages.map(({ message }) => message),
    counts(name) {
      const { new: fresh, cur, done } = mailbox(name).counts();
      return { new: fresh, cur, done };
    },
  };
}
