import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createMailbox } from "../../mailbox/store.js";
import { createMemberKeys, saveMemberKey, userKeys } from "../../src/team/keys.js";
import { type TeamPaths, teamDirName, teamPaths } from "../../src/team/paths.js";
import { type MemberRecord, memberFile, type TeamRecord, writeRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { encodeKey } from "../../src/util/name-key.js";
import { selfIdentity } from "../../src/util/process-identity.js";

/** A temporary TROUPE_HOME with a project directory beside it; the caller removes `root`. */
export interface MadeHome {
  readonly root: string;
  readonly home: string;
  readonly project: string;
}

export function makeHome(): MadeHome {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-")));
  const home = path.join(root, "home");
  const project = path.join(root, "project");
  for (const dir of [home, project]) fs.mkdirSync(dir, { mode: 0o700 });
  return { root, home, project };
}

export interface MadeMember extends Partial<MemberRecord> {
  readonly name: string;
}

/** A team as its host leaves it on disk, run by this process; member `user` comes first by itself. */
export async function makeTeam(
  { home, project }: MadeHome,
  options: {
    readonly name?: string;
    readonly projectRoot?: string;
    readonly lead?: TeamRecord["lead"];
    readonly members?: readonly MadeMember[];
  } = {},
): Promise<TeamPaths> {
  const { name = "demo", projectRoot = project, lead = "user", members = [] } = options;
  const paths = teamPaths(home, teamDirName(name, projectRoot));
  for (const dir of [paths.members, paths.mail, paths.run])
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  await addMember(paths, { name: "user", kind: "user", publicKey: userKeys(home).publicKey, order: 0 });
  for (const [index, member] of members.entries()) await addMember(paths, { order: index + 1, ...member });
  await writeRecord(paths.teamRecord, {
    v: 1,
    name,
    projectRoot,
    lead,
    backend: { type: "in-process", reason: "made for a test" },
    createdAt: new Date().toISOString(),
  });
  return paths;
}

/** Adds or replaces a member with its mailbox; its keys are in `run/<incarnation>/`. */
export async function addMember(paths: TeamPaths, member: MadeMember): Promise<MemberRecord> {
  const incarnation =
    member.incarnation ?? Buffer.from(encodeKey(member.name)).toString("hex").slice(0, 8).padEnd(8, "0");
  const runDir = path.join(paths.run, incarnation);
  fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const keys = createMemberKeys();
  const record: MemberRecord = {
    v: 1,
    id: incarnation,
    order: 1,
    agentId: `${member.name}@${paths.dirName.slice(0, -7)}`,
    kind: "command",
    what: "sleep 30",
    colour: "red",
    service: false,
    incarnation,
    publicKey: keys.publicKey,
    state: "idle",
    reason: "waiting-mail",
    since: new Date().toISOString(),
    // The user has no process of its own.
    ...(member.kind === "user" ? {} : { process: selfIdentity() }),
    ...member,
  };
  await createMailbox(mailboxOf(paths, member.name));
  await saveMemberKey(runDir, keys);
  await writeRecord(memberFile(paths, member.name), record);
  return record;
}

/** The environment of a teammate's process. */
export function memberEnvironment(paths: TeamPaths, member: MemberRecord): Record<string, string> {
  return {
    TROUPE_HOME: paths.home,
    TROUPE_TEAM: paths.dirName,
    TROUPE_AGENT_ID: member.agentId,
    TROUPE_KEY_FILE: path.join(paths.run, member.incarnation, "key.pem"),
  };
}
