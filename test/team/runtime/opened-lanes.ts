import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { IncomingMessage } from "../../../src/agent/ports.js";
import type { TeamEventBody } from "../../../src/team/events.js";
import { type ControlMessage, type Lanes, openLanes } from "../../../src/team/runtime/lanes.js";
import { mailboxOf } from "../../../src/team/send.js";
import type { LivingTeam } from "../living-team.js";

export interface OpenedLanes {
  readonly lanes: Lanes;
  readonly events: TeamEventBody[];
  readonly control: ControlMessage[];
  /** What was told of trouble with the mailbox; undefined for its end. */
  readonly troubles: (string | undefined)[];
  readonly outDir: string;
  /** The texts of warnings. */
  warnings(): string[];
}

const opened = new Set<Lanes>();

/** The lanes of a member, by default `ada`; closed when the running test is over. `known`: ids that a transcript has. */
export function open(
  team: LivingTeam,
  options: {
    readonly name?: string;
    readonly known?: readonly string[];
    readonly open?: readonly string[];
    readonly sweepMs?: number;
    readonly againMs?: number;
  } = {},
): OpenedLanes {
  const { name = "ada", known = [], open: unanswered = [] } = options;
  const events: TeamEventBody[] = [];
  const control: ControlMessage[] = [];
  const troubles: (string | undefined)[] = [];
  const outDir = path.join(team.made.root, `out-${opened.size}`);
  fs.mkdirSync(outDir, { recursive: true });
  const lanes = openLanes({
    paths: team.paths,
    mailDir: mailboxOf(team.paths, name),
    name,
    incarnation: team.member(name).incarnation,
    outDir,
    known: new Set(known),
    open: new Set(unanswered),
    onControl: (message) => void control.push(message),
    onTrouble: (trouble) => void troubles.push(trouble),
    emit: (event) => void events.push(event),
    ...(options.sweepMs === undefined ? {} : { sweepMs: options.sweepMs }),
    ...(options.againMs === undefined ? {} : { againMs: options.againMs }),
  });
  opened.add(lanes);
  onTestFinished(() => close(lanes));
  const warnings = () => events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  return { lanes, events, control, troubles, outDir, warnings };
}

/** Closes lanes before the test is over. */
export async function close(lanes: Lanes): Promise<void> {
  if (opened.delete(lanes)) await lanes.close();
}

/** Leaves the closing to the test. */
export function forget(lanes: Lanes): void {
  opened.delete(lanes);
}

/** Takes until there are `count` messages. */
export async function receive(lanes: Lanes, count: number): Promise<IncomingMessage[]> {
  const all: IncomingMessage[] = [];
  while (all.length < count) all.push(...(await lanes.next(AbortSignal.timeout(20_000))));
  return all;
}
