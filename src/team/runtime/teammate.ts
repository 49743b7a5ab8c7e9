import path from "node:path";
import type { QueryResult } from "../../agent/events.js";
import type { Backoff } from "../../agent/model/backoff.js";
import type { IncomingMessage } from "../../agent/ports.js";
import { query } from "../../agent/query.js";
import { openTranscript, readTranscript } from "../../agent/transcript.js";
import { oneLine } from "../../util/text.js";
import { defaults } from "../defaults.js";
import type { TeamEventBody } from "../events.js";
import type { MemberReport } from "../host/protocol.js";
import { privateKeyFrom } from "../keys.js";
import type { IdleReason, MemberState } from "../member-state.js";
import { teamPaths } from "../paths.js";
import { createPostman } from "../postman.js";
import { readTeamRecord } from "../records.js";
import { mailboxOf } from "../send.js";
import { agentSetup } from "./agent-setup.js";
import type { AgentSpec } from "./agent-spec.js";
import { type ControlMessage, type Lanes, openLanes } from "./lanes.js";
import { lastWords } from "./last-words.js";
import { isRefusedForGood, withdrawRefused } from "./refused.js";
import { revocable } from "./revocable.js";
import { activityOf, shutdownWords, wordsOf } from "./turn-words.js";

/** What the process around a teammate gives it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  /** Shared by all agents of the process. */
  readonly backoff: Backoff;
  /** Takes news for the host and for views; must not throw. */
  readonly report: (report: MemberReport) => void;
  /** Called once, when the teammate can receive mail. */
  readonly started: () => void;
  /** How long a tool may go on when the teammate is asked to shut down; default in {@link defaults}. */
  readonly toolGraceMs?: number;
  /** Ends the teammate at once. */
  readonly signal: AbortSignal;
  /** Aborted where that did not end it: whatever it still does then reaches no tool, mailbox or transcript. */
  readonly revoked?: AbortSignal;
}

interface Turn {
  readonly result: QueryResult;
  /** Whether it sent any message. */
  readonly wrote: boolean;
  /** Whether it was interrupted with new instructions, which are the next input. */
  readonly redirected: boolean;
}

/** Ends a turn from outside. */
class Interruption extends Error {
  override readonly name = "Interruption";
  constructor() {
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
  const { revoked } = around;
  const post = createPostman({
    team: { paths, record: readTeamRecord(paths) },
    from: spec.name,
    privateKey: privateKeyFrom(spec.keyFile),
  });
  const postman = revocable(post, ["send"], revoked);
  const setup = await agentSetup(
    spec,
    around.env,
    {
      postman,
      asked: (to) => lanes.unanswered.findLast(({ from }) => from === to)?.id,
      replied: (id) => lanes.replied(id),
    },
    around.signal,
  );
  let unanswered = past.unanswered;
  let turn: AbortController | undefined;
  /** What interrupted the turn; their words are heeded at its end, in this order. */
  let interrupts: ControlMessage[] = [];
  let toolsRunning = 0;
  let shutdown: ControlMessage | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let current: { readonly state: MemberState; readonly activity?: string } | undefined;
  let trouble: string | undefined;
  /** Whether mail is held back that the server would not have. */
  let withheld = false;

  /** Puts what a control message says behind the mail that waits. */
  const heed = ({ framed, from, message }: ControlMessage): void => {
    if (framed !== undefined) lanes.notice(framed, `${from}: ${oneLine(message.text ?? "", 60)}`);
  };

  const onControl = (control: ControlMessage): void => {
    if (control.kind === "interrupt") {
      if (turn === undefined) heed(control);
      else interrupts.push(control);
      turn?.abort(new Interruption());
    } else if (control.kind === "shutdown-request") {
      shutdown = control;
      lanes.notice(shutdownWords, `asked to end by ${control.from}`);
      heed(control);
      // The step at hand is finished, but for a tool that takes its time.
      graceTimer ??= setTimeout(() => {
        if (toolsRunning > 0) turn?.abort(new Interruption());
      }, around.toolGraceMs ?? defaults.toolGraceMs);
    }
  };

  const state = (next: Omit<MemberState, "since">, activity?: string): void => {
    const since = new Date().toISOString();
    current = { state: { ...next, since }, ...(activity === undefined ? {} : { activity }) };
    report();
  };
  const report = (): void => {
    if (current === undefined) return;
    const detail = [current.state.detail, trouble].filter(Boolean).join("; ");
    around.report({
      type: "state",
      ...current,
      state: { ...current.state, ...(detail === "" ? {} : { detail }) },
    });
  };

  const tools = setup.tools.map((tool) => revocable(tool, ["run"], revoked));
  const transcript = revocable(await openTranscript(transcriptFile), ["append", "withdraw"], revoked);
  const openMail = (): Lanes => {
    const opened = openLanes({
      paths,
      mailDir: mailboxOf(paths, spec.name),
      name: spec.name,
      incarnation: spec.incarnation,
      outDir: setup.toolContext.outputDir,
      known: new Set(messageIds),
      open: new Set(unanswered),
      onControl,
      onTrouble(text) {
        trouble = text;
        report();
      },
      emit,
      revoked,
    });
    return revocable(opened, ["take", "next", "answered"], revoked);
  };
  let lanes: Lanes;
  try {
    lanes = openMail();
  } catch (error) {
    await transcript.close();
    throw error;
  }

  const runTurn = async (input: readonly IncomingMessage[]): Promise<Turn> => {
    turn = new AbortController();
    interrupts = [];
    toolsRunning = 0;
    let wrote = false;
    const events = query({
      ...setup,
      tools,
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
          return {
            result: step.value,
            wrote,
            redirected: interrupts.some(({ framed }) => framed !== undefined),
          };
        }
        const event = step.value;
        emit({ type: "agent", name: spec.name, event });
        if (event.type === "tool-start") {
          toolsRunning++;
          state({ state: "working" }, activityOf(event));
        }
        if (event.type === "tool-end") toolsRunning--;
        if (event.type === "tool-end" && event.tool === "SendMessage" && !event.isError) wrote = true;
      }
    } finally {
      turn = undefined;
      interrupts.forEach(heed);
    }
  };

  /** A turn whose mail is taken out again, first cut short and then for good, where the server will not have it. */
  const runPossibleTurn = async (input: readonly IncomingMessage[]): Promise<Turn> => {
    const first = await runTurn(input);
    if (!isRefusedForGood(first.result)) return first;
    const { shorter } = await withdraw(true);
    const second = shorter.length === 0 ? first : await runTurn(shorter);
    const wrote = first.wrote || second.wrote;
    if (second !== first && !isRefusedForGood(second.result)) return { ...second, wrote };
    await withdraw(false);
    withheld = true;
    emit({
      type: "notice",
      level: "warning",
      name: spec.name,
      text: `what came last could not be put before the model and waits for the next start: ${oneLine(wordsOf(second.result))}`,
    });
    return { ...second, wrote };
  };
  const withdraw = async (keepsResults: boolean) => {
    const withdrawn = await withdrawRefused({ conversation, unanswered, transcript, lanes, keepsResults });
    unanswered = unanswered.filter((id) => !withdrawn.ids.includes(id));
    return withdrawn;
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
      const { result, wrote, redirected } = await runPossibleTurn(input);
      around.signal.throwIfAborted();
      const reason: IdleReason =
        result.status === "completed" || result.status === "aborted" ? "done" : "failed";
      // What an interrupted turn brought in stays in the conversation and on record: it is not handed over again.
      if (result.status === "aborted" && !redirected) await lanes.answered(unanswered);
      // With new instructions the work goes on: these are no last words.
      if (!redirected) await lastWords({ spec, postman, lanes, wrote, reason, text: wordsOf(result), emit });
      if (shutdown !== undefined) break;
      input = await lanes.take();
      if (input.length === 0) state(idleState(result, reason));
    }
    await answerShutdown(shutdown);
  } finally {
    clearTimeout(graceTimer);
    try {
      await lanes.close();
    } finally {
      await transcript.close();
    }
  }

  /** Mail that is held back until the next start is a failure that later turns do not undo. */
  function idleState(result: QueryResult, reason: IdleReason): Omit<MemberState, "since"> {
    if (reason === "failed") return { state: "idle", reason, detail: oneLine(wordsOf(result)) };
    if (!withheld) return { state: "idle", reason };
    return {
      state: "idle",
      reason: "failed",
      detail: "mail that the model cannot take waits for the next start",
    };
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

type MemberEvent = Extract<MemberReport, { type: "event" }>["event"];

/** The prompt of a fresh incarnation; nothing where the transcript has it already. */
function firstInput(spec: AgentSpec, known: readonly string[]): readonly IncomingMessage[] {
  const id = `prompt-${spec.incarnation}`;
  if (spec.prompt === undefined || known.includes(id)) return [];
  return [{ id, text: spec.prompt, label: `prompt: ${oneLine(spec.prompt, 60)}` }];
}
