import { randomBytes } from "node:crypto";
import path from "node:path";
import { TroupeError } from "../../src/util/errors.js";
import { ExecError, exec } from "../../src/util/exec.js";
import { withLock } from "../../src/util/lock.js";
import { liveness } from "../../src/util/process-identity.js";
import { oneLine } from "../../src/util/text.js";
import { createTurns, type Turns } from "../turns.js";
import { typable, type View } from "../typed-text.js";
import type { SubmitOutcome, TeammateRef } from "../types.js";
import { type TypingLimits, type TypingPort, typeText } from "../typing.js";
import type { TmuxClient } from "./client.js";
import {
  deleteBuffer,
  type PaneInput,
  parsePaneInput,
  pastedMark,
  pasteText,
  pressEnter,
  showPane,
  type TypedPane,
} from "./paste-commands.js";
import { tmuxError } from "./place.js";

export interface SubmitTextOptions extends TypingLimits {
  readonly client: TmuxClient;
  /** Environment of tmux itself. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How long another sender to the same pane is waited for, and tmux while it takes the text, in milliseconds. */
const lockMs = 60_000;
const pasteMs = 15_000;

/** How many lines above the screen are looked at: what is typed to a line editor may have scrolled away already. */
const linesAbove = 100;

/**
 * Types text into a teammate's pane, see `TeammateExecutor.submitText`. Senders to one pane, of other processes too, wait
 * for each other. The buffers of the server's owner stay as they are.
 */
export function createSubmitText({ client, env, ...limits }: SubmitTextOptions) {
  // A lock keeps no order: the texts of this process get in line before it.
  const queues = new Map<string, Turns>();

  return async (
    agentId: string,
    ref: TeammateRef | undefined,
    text: string,
    signal?: AbortSignal,
  ): Promise<SubmitOutcome> => {
    const typed = typable(text);
    if (ref?.process === undefined || liveness(ref.process) === "gone")
      throw new TroupeError("not-running", `${agentId} does not run`, { kind: "not-reached" });
    const port = openPort(agentId, paneOf(agentId, ref), client, env);
    const work = () => typeText(port, typed, limits, signal);
    const turns = queues.get(ref.runDir) ?? createTurns();
    queues.set(ref.runDir, turns);
    return turns(() => withLock(path.join(ref.runDir, "input.lock"), lockMs, work, signal), signal);
  };
}

function paneOf(agentId: string, { pane, server, tag }: TeammateRef): TypedPane {
  if (pane === undefined || server === undefined || tag === undefined)
    throw new TroupeError("no-terminal", `${agentId} has no pane`, { kind: "unavailable" });
  if (liveness(server.process) === "gone") throw gone(agentId, "the tmux server of its pane has ended");
  return { pane, serverPid: server.process.pid, tag };
}

function openPort(
  agentId: string,
  to: TypedPane,
  client: TmuxClient,
  env: SubmitTextOptions["env"],
): TypingPort {
  let shown: PaneInput | undefined;

  async function look(): Promise<View> {
    const answer = await client.run(showPane(to.pane, linesAbove));
    if (!answer.ok) {
      if (["no-target", "no-server", "crashed"].includes(answer.failure))
        throw gone(agentId, "its pane is gone");
      throw tmuxError(client, answer);
    }
    const [first = "", ...rows] = answer.stdout.replace(/\n$/, "").split("\n");
    shown = takesInput(parsePaneInput(first));
    const { height, history, cursorX, cursorY } = shown;
    const top = Math.max(0, rows.length - height);
    return {
      text: rows.join("\n"),
      toCursor: rows.slice(0, top + cursorY + 1).join("\n"),
      cursor: `${history + cursorY},${cursorX}`,
    };
  }

  function takesInput(pane: PaneInput | undefined): PaneInput {
    if (pane === undefined) throw gone(agentId, "its pane is gone");
    if (pane.serverPid !== to.serverPid || pane.tag !== to.tag)
      throw gone(agentId, `${to.pane} is not its pane any more`);
    if (pane.dead) throw gone(agentId, "its program has ended");
    if (!pane.inputOff) return pane;
    throw new TroupeError("input-off", `${agentId}: the input of its pane is switched off`, {
      kind: "not-reached",
      remedy: `tmux select-pane -e -t ${to.pane}`,
    });
  }

  async function paste(text: string): Promise<string | undefined> {
    const first = await tryPaste(text);
    if (first !== "not-pasted") return first;
    const second = await tryPaste(text);
    if (second !== "not-pasted") return second;
    // Says why, where the pane has changed meanwhile.
    await look();
    throw new TroupeError("not-typed", `${agentId}: tmux did not paste the text`);
  }

  /** `not-pasted` where tmux has answered without having done it: only then it may be tried again. */
  async function tryPaste(text: string): Promise<string | undefined> {
    const buffer = bufferName();
    const argv = client.argv(pasteText(to, buffer, shown ?? takesInput(undefined)));
    let cleared = false;
    try {
      const options = { cwd: "/", env: definedIn(env), input: text, timeoutMs: pasteMs } as const;
      const { stdout, stderr, exitCode, signal } = await exec(argv, { ...options, okCodes: "any" });
      cleared = exitCode === 0;
      if (stdout.includes(pastedMark)) return undefined;
      if (exitCode === undefined) return `tmux was ended by ${signal ?? "a signal"}`;
      return /server exited|lost server/.test(stderr) ? oneLine(stderr) : "not-pasted";
    } catch (error) {
      if (error instanceof ExecError && error.failure.reason === "timeout")
        return `tmux did not answer within ${pasteMs} ms`;
      throw error;
    } finally {
      if (!cleared) await clear(buffer);
    }
  }

  async function enter(): Promise<string | undefined> {
    const buffer = bufferName();
    const answer = await client.run(pressEnter(to, buffer));
    if (!answer.ok) await clear(buffer);
    if (answer.stdout.includes(pastedMark)) return undefined;
    return answer.ok ? "its pane does not take input any more" : answer.message;
  }

  /** A buffer that is not there any more, or a server, needs no more. */
  async function clear(buffer: string): Promise<void> {
    await client.run([deleteBuffer(buffer)], 1000);
  }

  return { hasScreen: true, look, paste, enter };
}

function bufferName(): string {
  return `troupe-${process.pid}-${randomBytes(4).toString("hex")}`;
}

function definedIn(env: SubmitTextOptions["env"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || /^TMUX(_PANE)?$/.test(name) ? [] : [[name, value]],
    ),
  );
}

function gone(agentId: string, why: string): TroupeError {
  return new TroupeError("pane-gone", `${agentId}: ${why}`, { kind: "not-reached" });
}
