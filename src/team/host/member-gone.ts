import path from "node:path";
import { readExit } from "../../../backends/records.js";
import type { ExitRecord } from "../../../backends/types.js";
import { messageOf } from "../../util/errors.js";
import { readTail } from "../../util/fs.js";
import { oneLine, printable } from "../../util/text.js";
import { delay } from "../../util/wait.js";
import { keyPairFrom, memberKeyFile } from "../keys.js";
import type { MemberState } from "../member-state.js";
import { memberRunDir } from "../paths.js";
import { createPostman } from "../postman.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";

/** How much of a command's last output goes into the mail about its end. */
const tailBytes = 4_000;

/**
 * How long the exit record of a process that is gone may be on its way to the disk, in milliseconds: one of a pane is written
 * before its launch script ends, one of a child by this process, when it gets round to it.
 */
const recordDelays = { pane: 1_000, child: 10_000 } as const;

/**
 * Settles a member whose process or run is gone, once: the lead is told by mail (before the state says `ended`, so that
 * the team never looks done in between), then the record is closed. `error` is what the run of an embedded agent threw.
 */
export async function memberGone(context: HostContext, member: MemberRecord, error?: unknown): Promise<void> {
  const { roster, settling } = context;
  const { name, incarnation } = member;
  const current = roster.find(name);
  if (current?.incarnation !== incarnation || current.state === "ended" || settling.has(incarnation)) return;
  settling.add(incarnation);
  try {
    const runDir = memberRunDir(context.paths, incarnation);
    const exit = await exitOf(runDir, recordDelays[current.ref?.backend === "in-process" ? "child" : "pane"]);
    if (exit !== undefined)
      roster.update(name, incarnation, { exit: { exitCode: exit.exitCode, signal: exit.signal } });
    const latest = roster.find(name) ?? current;
    const state = endStateOf(latest, exit, error);
    if (latest.state !== "stopping")
      await tellLead(context, latest, runDir, exit, state).catch((failure: unknown) => {
        const text = oneLine(`${name} ended, and its lead was not told: ${messageOf(failure)}`);
        context.hub.emit({ type: "notice", level: "warning", name, text });
      });
    roster.setState(name, incarnation, state);
  } finally {
    settling.delete(incarnation);
  }
}

async function exitOf(runDir: string, delayMs: number): Promise<ExitRecord | undefined> {
  const deadline = Date.now() + delayMs;
  for (;;) {
    const exit = readExit(runDir);
    if (exit !== undefined || Date.now() >= deadline) return exit;
    await delay(20);
  }
}

function endStateOf(member: MemberRecord, exit: ExitRecord | undefined, error: unknown): MemberState {
  const ended = { state: "ended", since: new Date().toISOString() } as const;
  if (member.state === "stopping") {
    const byItself =
      member.kind === "agent" && error === undefined && (exit === undefined || exit.exitCode === 0);
    return { ...ended, reason: byItself ? "completed" : "killed" };
  }
  if (error !== undefined) return { ...ended, reason: "failed", detail: oneLine(messageOf(error)) };
  if (exit === undefined)
    return { ...ended, reason: "lost", detail: "its process is gone and left no exit record" };
  if (exit.signal !== null) return { ...ended, reason: "killed", detail: `by ${exit.signal}` };
  if (exit.exitCode === 0) return { ...ended, reason: "completed" };
  return { ...ended, reason: "failed", detail: `exit code ${exit.exitCode}` };
}

async function tellLead(
  context: HostContext,
  member: MemberRecord,
  runDir: string,
  exit: ExitRecord | undefined,
  state: MemberState,
): Promise<void> {
  const lead = context.record.lead;
  if (member.name === lead) return;
  const tail = printable(readTail(path.join(runDir, "output.log"), tailBytes));
  const postman = createPostman({
    team: context,
    from: member.name,
    privateKey: keyPairFrom(path.join(runDir, memberKeyFile)).privateKey,
  });
  await postman.send(lead, {
    kind: member.kind === "command" ? "command-exit" : "idle",
    ...(member.kind === "command" ? {} : { reason: "failed" }),
    exitCode: exit?.exitCode ?? null,
    signal: exit?.signal ?? null,
    durationMs: Date.now() - Date.parse(member.since),
    tail,
    summary: oneLine(`${member.name} ended: ${state.reason} ${state.detail ?? ""}`, 80),
    text: [
      `${member.name} ended: ${state.reason} ${state.detail ?? ""}`.trim(),
      tail && `Its last output:\n${tail}`,
    ]
      .filter(Boolean)
      .join("\n"),
  });
}
