import path from "node:path";
import type { Usage } from "../agent/events.js";
import { errnoOf } from "../util/errors.js";
import { listIfExists } from "../util/fs.js";
import { isHeld, readLock } from "../util/lock.js";
import { fileNameOf } from "../util/name-key.js";
import { liveness } from "../util/process-identity.js";
import { defaults } from "./defaults.js";
import type { LocatedTeam } from "./locate.js";
import type { MemberState } from "./member-state.js";
import type { TeamPaths } from "./paths.js";
import { type MemberRecord, readHostRecord, readMembers } from "./records.js";

/**
 * The host of a team as its files and the process table tell. `gone`: it died; `ended`: it ended in an orderly way;
 * `none`: there has not been one.
 */
export interface HostStatus {
  readonly state: "running" | "gone" | "ended" | "none";
  readonly pid?: number;
  /** What that means and what to do, where there is something to do. */
  readonly advice?: string;
}

/** One member as `status` shows it; its state as {@link memberState} judges it. */
export interface MemberStatus extends MemberState {
  readonly name: string;
  readonly agentId: string;
  readonly kind: MemberRecord["kind"];
  readonly what: string;
  readonly colour: string;
  readonly model?: string;
  readonly service: boolean;
  readonly input?: "terminal";
  readonly activity?: string;
  /** Messages in `new/`. */
  readonly unread: number;
  readonly billed?: Usage;
  readonly context?: number;
  readonly pid?: number;
  readonly backend?: string;
  readonly pane?: string;
  /** The pane is gone, and the member works on without one. */
  readonly paneClosed?: true;
  readonly exit?: { readonly exitCode: number | null; readonly signal: string | null };
}

export interface TeamStatus {
  readonly team: string;
  readonly directory: string;
  readonly projectRoot: string;
  readonly backend: string;
  readonly backendReason: string;
  readonly host: HostStatus;
  readonly members: readonly MemberStatus[];
}

/** What a team's files say right now. Asks no process anything and changes nothing. */
export function teamStatus({ paths, record }: LocatedTeam): TeamStatus {
  const host = hostStatus(paths);
  return {
    team: record.name,
    directory: paths.root,
    projectRoot: record.projectRoot,
    backend: record.backend.type,
    backendReason: record.backend.reason,
    host,
    members: readMembers(paths).map((member) => memberStatus(paths, member, host)),
  };
}

export function hostStatus(paths: TeamPaths): HostStatus {
  const lock = readLock(paths.lock);
  if (lock !== undefined && isHeld(lock)) return { state: "running", pid: lock.owner.pid };
  const record = readHostRecord(paths);
  if (lock === undefined && record === undefined) return { state: "none" };
  if (record?.endedAt !== undefined || lock?.released === true) return { state: "ended" };
  const after = timeWords(record?.orphanTimeoutMs ?? defaults.orphanTimeoutMs);
  return {
    state: "gone",
    pid: record?.process.pid ?? lock?.owner.pid ?? 0,
    advice: `the team's host is gone; members end by themselves after ${after}; \`troupe down\` ends them now`,
  };
}

function timeWords(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} s` : `${Math.round(ms / 60_000)} minutes`;
}

/**
 * A member's state in the light of the process table: a record that says it lives although its process (or, for one
 * without a process of its own, the host) is gone reads `ended`, `lost`.
 */
export function memberState(member: MemberRecord, host: HostStatus): MemberState {
  const { state, reason, detail, since } = member;
  const told = { state, since, ...defined({ reason, detail }) };
  if (member.kind === "user" || state === "ended") return told;
  const lives = member.process === undefined ? host.state === "running" : liveness(member.process) !== "gone";
  return lives ? told : { state: "ended", reason: "lost", since, detail: "its process is gone" };
}

function memberStatus(paths: TeamPaths, member: MemberRecord, host: HostStatus): MemberStatus {
  const state = memberState(member, host);
  const { name, agentId, kind, what, colour, service, model, activity, context, billed, process, ref, exit } =
    member;
  return {
    name,
    agentId,
    kind,
    what,
    colour,
    service,
    ...state,
    unread: unreadOf(paths, name),
    ...defined({
      input: member.input,
      model,
      activity: state.state === "ended" ? undefined : activity,
      billed,
      context,
      pid: process?.pid,
      backend: ref?.backend,
      pane: ref?.pane,
      paneClosed: state.state === "ended" ? undefined : member.paneClosed,
      exit,
    }),
  };
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that have a value. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function unreadOf(paths: TeamPaths, name: string): number {
  try {
    return listIfExists(path.join(paths.mail, fileNameOf(name), "new")).filter(
      (file) => !file.startsWith("."),
    ).length;
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return 0;
    throw error;
  }
}
