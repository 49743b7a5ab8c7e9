import path from "node:path";
import type { BackendType, TeammateRef } from "../../backends/types.js";
import type { Usage } from "../agent/events.js";
import { TroupeError } from "../util/errors.js";
import { listIfExists, readTextIfExists, writeJsonAtomic } from "../util/fs.js";
import { fileNameOf } from "../util/name-key.js";
import type { ProcessIdentity } from "../util/process-identity.js";
import type { ColourName } from "./colours.js";
import type { MemberState } from "./member-state.js";
import type { TeamPaths } from "./paths.js";

/** `team.json`: what never changes in the life of a team. */
export interface TeamRecord {
  readonly v: 1;
  readonly name: string;
  readonly projectRoot: string;
  /** `user`, or `lead` where an agent leads. */
  readonly lead: "user" | "lead";
  readonly backend: { readonly type: BackendType; readonly reason: string };
  /** Members by channel, as the team file names them. */
  readonly channels?: Readonly<Record<string, readonly string[]>>;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** `members/<key>.json`. Written by the host alone; read by everybody. */
export interface MemberRecord extends MemberState {
  readonly v: 1;
  /** 8 hex digits, the same for every incarnation. */
  readonly id: string;
  /** Place in the order of joining; `user` is 0. */
  readonly order: number;
  readonly name: string;
  readonly agentId: string;
  /** `user` is of its own kind; a lead that is an agent is `agent`. */
  readonly kind: "user" | "agent" | "command";
  /** Agent definition, or the command line. */
  readonly what: string;
  /** The host types its mail into its terminal. */
  readonly input?: "terminal";
  readonly model?: string;
  readonly colour: ColourName;
  readonly service: boolean;
  /** 8 hex digits, new with every start. */
  readonly incarnation: string;
  /** Ed25519 public key, base64url of its SPKI form. */
  readonly publicKey: string;
  /** What it does now, in one line. */
  readonly activity?: string;
  readonly process?: ProcessIdentity;
  readonly ref?: TeammateRef;
  /** Its pane is gone, and it works on without one. */
  readonly paneClosed?: true;
  readonly exit?: { readonly exitCode: number | null; readonly signal: string | null };
  readonly billed?: Usage;
  readonly context?: number;
}

/** `run/host.json`: the host that runs the team, or ran it last. */
export interface HostRecord {
  readonly v: 1;
  readonly version: string;
  readonly process: ProcessIdentity;
  readonly publicKey: string;
  readonly startedAt: string;
  /** How long members go on without a host before they end. */
  readonly orphanTimeoutMs?: number;
  /** Set when the host ended in an orderly way. */
  readonly endedAt?: string;
}

/** The record, or TroupeError `no-team` (kind `not-found`). */
export function readTeamRecord(paths: TeamPaths): TeamRecord {
  const record = readRecord<TeamRecord>(paths.teamRecord);
  if (record === undefined)
    throw new TroupeError("no-team", `no team at ${paths.root}`, { kind: "not-found", remedy: "troupe up" });
  return record;
}

export function readHostRecord(paths: TeamPaths): HostRecord | undefined {
  return readRecord<HostRecord>(paths.hostRecord);
}

/** All members, `user` first, then in the order they joined. */
export function readMembers(paths: TeamPaths): MemberRecord[] {
  return listIfExists(paths.members)
    .filter((name) => name.endsWith(".json") && !name.startsWith("."))
    .flatMap((name) => readRecord<MemberRecord>(path.join(paths.members, name)) ?? [])
    .sort((a, b) => a.order - b.order);
}

/** One member by name, or undefined. */
export function readMember(paths: TeamPaths, name: string): MemberRecord | undefined {
  return readRecord<MemberRecord>(memberFile(paths, name));
}

export function memberFile(paths: TeamPaths, name: string): string {
  return path.join(paths.members, `${fileNameOf(name)}.json`);
}

export async function writeRecord(
  file: string,
  record: TeamRecord | MemberRecord | HostRecord,
): Promise<void> {
  await writeJsonAtomic(file, record);
}

/** Reads one versioned record. Hand-checked, since `send` must start without a schema library. */
function readRecord<T extends { readonly v: 1 }>(file: string): T | undefined {
  const text = readTextIfExists(file);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TroupeError("bad-record", `${file} is not JSON`, {
      cause,
      remedy: "move it away and start the team anew",
    });
  }
  const version = typeof value === "object" && value !== null && "v" in value ? value.v : undefined;
  if (version === 1) return value as T;
  throw new TroupeError(
    "newer-record",
    `${file} has version ${JSON.stringify(version)}; this troupe reads version 1`,
    {
      remedy: "use the troupe that wrote it: troupe down, update, troupe up",
    },
  );
}
