import path from "node:path";
import type { AgentEvent, QueryResult } from "../../agent/events.js";
import type { Backoff } from "../../agent/model/backoff.js";
import type { IncomingMessage } from "../../agent/ports.js";
import { query } from "../../agent/query.js";
import { openTranscript, readTranscript } from "../../agent/transcript.js";
import { oneLine } from "../../util/text.js";
import type { TeamEventBody } from "../events.js";
import type { MemberReport } from "../host/protocol.js";
import { keyPairFrom } from "../keys.js";
import type { IdleReason, MemberState } from "../member-state.js";
import { teamPaths } from "../paths.js";
import { createPostman } from "../postman.js";
import { readTeamRecord } from "../records.js";
import { mailboxOf } from "../send.js";
import { agentSetup } from "./agent-setup.js";
import type { AgentSpec } from "./agent-spec.js";
import { type ControlMessage, openLanes } from "./lanes.js";
import { lastWords } from "./last-words.js";

/** What the process around a teammate gives it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  /** Shared by all agents of the process. */
  readonly backoff: Backoff;
  /** Takes news for the host and for views; must not throw. */
  readonly report: (report: MemberReport) => void;
  /** Called once, when the teammate can receive mail. */
  readonly started: () => void;
  /** Ends the teammate at once. */
  readonly signal: AbortSignal;
}

interface Turn {
  readonly result: QueryResult;
  /** Whether it sent any message. */
  readonly wrote: boolean;
  /** Whether it was interrupted with new instructions, which are the next input. */
  readonly redirected: boolean;
}

/** Ends a turn from outside, with what comes next. */
class Interruption extends Error {
  override readonly name = "Interruption";
  constructor(readonly text: string | undefined) {
    super("interrupted");
  }
}

/**
 * Runs one incarnation of an embedded agent: prompt, then mail after mail, until it is asked to shut down (resolves) or
 * the signal is aborted (rejects with its reason). Everything it opened is closed again.
 */
export async function runTeammate(spec: AgentSpec, around: Surroundings): Promise<void> {
  const paths = teamPaths(spec.home, spec.dirName);
  const emit = (body: TeamEventBody): void =>
    around.report({ type: "event", event: { at: new Date().toISOString(), ...body } as MemberEvent });
  const transcriptFile = path.join(spec.runDir, "transcript.jsonl");
  const past = await readTranscript(transcriptFile);
  const { conversation, messageIds } = past;
  const postman = createPostman({
    team: { paths, record: readTeamRecord(paths) },
    from: spec.name,
    privateKey: keyPairFrom(spec.keyFile).privateKey,
  });
  const setup = await agentSetup(
    spec,
    around.env,
    {
      postman,
      asked: (to) => lanes.unanswered.get(to)?.id,
      replied: (to) => void lanes.replied(to),
    },
    around.signal,
  );
  let unanswered = past.unanswered;
  let turn: AbortController | undefined;
  let shutdown: ControlMessage | undefined;

  const onControl = (control: ControlMessage): void => {
    const text = control.message.text;
    if (control.kind === "interrupt") {
      turn?.abort(new Interruption(text));
      if (turn === undefined && text !== undefined)
        lanes.notice(text, `${control.from}: ${oneLine(text, 60)}`);
    } else if (control.kind === "shutdown-request") {
      shutdown = control;
      lanes.notice(shutdownWords(control), `asked to end by ${control.from}`);
    }
  };
  const transcript = await openTranscript(transcriptFile);
  const lanes = openLanes({
    paths,
    mailDir: mailboxOf(paths, spec.name),
    name: spec.name,
    incarnation: spec.incarnation,
    known: new Set(messageIds),
    open: new Set(unanswered),
    onControl,
    emit,
  });
  const state = (next: Omit<MemberState, "since">, activity?: string): void =>
    around.report({
      type: "state",
      state: { ...next, since: new Date().toISOString() },
      ...(activity === undefined ? {} : { activity }),
    });

  const runTurn = async (input: readonly IncomingMessage[]): Promise<Turn> => {
    turn = new AbortController();
    let wrote = false;
    const events = query({
      ...setup,
      conversation,
      unanswered,
      input,
      messages: lanes,
      transcript,
      backoff: around.backoff,
      signal: AbortSignal.any([turn.signal, around.signal]),
    });
    try {
      for (;;) {
        const step = await events.next();
        if (step.done) {
          unanswered = step.value.unanswered ?? [];
          return { result: step.value, wrote, redirected: isRedirected(turn.signal.reason) };
        }
        const event = step.value;
        emit({ type: "agent", name: spec.name, event });
        if (event.type === "tool-start") state({ state: "working" }, activityOf(event));
        if (event.type === "tool-end" && event.tool === "SendMessage" && !event.isError) wrote = true;
      }
    } finally {
      const { reason } = turn.signal;
      if (isRedirected(reason)) lanes.notice(reason.text, `new instructions: ${oneLine(reason.text, 60)}`);
      turn = undefined;
    }
  };

  try {
    around.started();
    let input: readonly IncomingMessage[] = firstInput(spec, messageIds);
    // An earlier process ended before the answer: the conversation ends with what this one is to answer.
    let goesOn = input.length === 0 && unanswered.length > 0;
    if (input.length === 0 && !goesOn) state({ state: "idle", reason: "done" });
    for (;;) {
      if (input.length === 0 && !goesOn) input = await lanes.next(around.signal);
      goesOn = false;
      if (shutdown !== undefined && input.every(({ id }) => id.startsWith("notice-"))) break;
      state({ state: "working" }, oneLine(input.at(-1)?.label ?? "", 80));
      const { result, wrote, redirected } = await runTurn(input);
      around.signal.throwIfAborted();
      const reason: IdleReason =
        result.status === "completed" || result.status === "aborted" ? "done" : "failed";
      // What an interrupted turn brought in stays in the conversation and on record: it is not handed over again.
      if (result.status === "aborted" && !redirected) await lanes.answered(unanswered);
      // With new instructions the work goes on: these are no last words.
      if (!redirected) await lastWords({ spec, postman, lanes, wrote, reason, text: wordsOf(result), emit });
      if (shutdown !== undefined) break;
      input = await lanes.take();
      if (input.length === 0)
        state({
          state: "idle",
          reason,
          ...(reason === "failed" ? { detail: oneLine(wordsOf(result)) } : {}),
        });
    }
    await answerShutdown(shutdown);
  } finally {
    try {
      await lanes.close();
    } finally {
      await transcript.close();
    }
  }

  /** The host sees the end itself; a person or a lead that asked by mail is told. */
  async function answerShutdown(request: ControlMessage): Promise<void> {
    if (request.from === "host") return;
    await postman.send(request.from, {
      kind: "shutdown-response",
      requestId: request.message["requestId"],
      approved: true,
      summary: "ended as asked",
    });
  }
}

function isRedirected(reason: unknown): reason is Interruption & { readonly text: string } {
  return reason instanceof Interruption && reason.text !== undefined;
}

type MemberEvent = Extract<MemberReport, { type: "event" }>["event"];

/** The prompt of a fresh incarnation; nothing where the transcript has it already. */
function firstInput(spec: AgentSpec, known: readonly string[]): readonly IncomingMessage[] {
  const id = `prompt-${spec.incarnation}`;
  if (spec.prompt === undefined || known.includes(id)) return [];
  return [{ id, text: spec.prompt, label: `prompt: ${oneLine(spec.prompt, 60)}` }];
}

function shutdownWords(control: ControlMessage): string {
  const reason = control.message.text === undefined ? "" : ` Reason: ${control.message.text}`;
  return `You are asked to shut down.${reason} Finish the step you are in, start nothing new, and end with your last words.`;
}

function activityOf(event: Extract<AgentEvent, { type: "tool-start" }>): string {
  return oneLine(event.tool === "SendMessage" ? event.summary : `${event.tool} ${event.summary}`, 80);
}

/** What a turn has to say to whoever waits for it, in every ending. */
function wordsOf(result: QueryResult): string {
  switch (result.status) {
    case "completed":
      return result.text === "" ? "(no output)" : result.text;
    case "max-turns":
      return `(stopped after ${result.turns} turns, its limit) ${result.text}`.trim();
    case "aborted":
      return `(interrupted) ${result.text}`.trim();
    case "refused":
      return `(the model refused to go on) ${result.text}`.trim();
    case "failed":
      return `(failed: ${result.error?.message ?? "unknown error"}) ${result.text}`.trim();
  }
}
