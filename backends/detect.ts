import { TroupeError } from "../src/util/errors.js";
import { tmuxAround } from "./tmux/inside-place.js";
import type { Availability, BackendType } from "./types.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Looks at the machine, each when its answer is needed. */
export interface BackendProbes {
  /** Whether the tmux server of `TMUX` answers for the pane of `TMUX_PANE`. */
  tmuxInside(): Promise<Availability>;
  /** Whether a tmux that is new enough is installed. */
  tmuxInstalled(): Promise<Availability>;
  /** Whether iTerm2 answers for the session that we were called from. */
  iterm2(): Promise<Availability>;
}

export interface ChoiceInput {
  readonly command: "up" | "run";
  /** What was asked for; it wins or fails. `auto` looks for the best place, for `run` too. */
  readonly explicit?: BackendType | "auto";
  readonly env: Environment;
  readonly stdinIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  readonly probe: BackendProbes;
}

/** Where a team runs, and why; always told to the person. */
export type BackendChoice =
  | {
      readonly type: "tmux";
      readonly place: "inside" | "own";
      readonly reason: string;
      readonly hint?: string;
    }
  | { readonly type: "iterm2" | "in-process"; readonly reason: string; readonly hint?: string };

/**
 * Chooses the backend of a team, once, when it is started. An explicit choice that cannot be had is refused with
 * TroupeError of kind `unavailable`, whose remedy is the command that mends it; nothing falls back silently.
 */
export async function chooseBackend(input: ChoiceInput): Promise<BackendChoice> {
  const { command, explicit } = input;
  if (explicit === "in-process") return { type: "in-process", reason: "asked for" };
  if (explicit === "tmux") return insistOnTmux(input);
  if (explicit === "iterm2") return insistOnIterm2(input);
  if (command === "run" && explicit === undefined)
    return { type: "in-process", reason: "run works in one process unless another backend is asked for" };
  return lookAround(input);
}

async function lookAround(input: ChoiceInput): Promise<BackendChoice> {
  const { env, probe } = input;
  const hints: string[] = [];
  if (isSet(env["TMUX"])) {
    const inside = await insideTmux(input);
    if (inside.available) return { type: "tmux", place: "inside", reason: "called from a tmux pane" };
    hints.push(inside.reason);
  }
  if (env["TERM_PROGRAM"] === "iTerm.app" && isSet(env["ITERM_SESSION_ID"])) {
    const iterm = await probe.iterm2();
    if (iterm.available) return { type: "iterm2", reason: "called from iTerm2, which answers" };
    hints.push(withRemedy(iterm));
    const tmux = await probe.tmuxInstalled();
    if (tmux.available)
      return told({ type: "tmux", place: "own", reason: "in iTerm2, but it does not answer" }, hints);
  }
  if (!input.stdinIsTerminal && !input.stderrIsTerminal)
    return told({ type: "in-process", reason: "there is no terminal on stdin or stderr" }, hints);
  if (isSet(env["CI"]) && env["CI"] !== "false" && env["CI"] !== "0")
    return told({ type: "in-process", reason: "CI is set" }, hints);
  const tmux = await probe.tmuxInstalled();
  if (tmux.available) return told({ type: "tmux", place: "own", reason: "tmux is installed" }, hints);
  return told({ type: "in-process", reason: tmux.reason }, [...hints, ...remedyOf(tmux)]);
}

async function insistOnTmux(input: ChoiceInput): Promise<BackendChoice> {
  const hints: string[] = [];
  if (isSet(input.env["TMUX"])) {
    const inside = await insideTmux(input);
    if (inside.available) return { type: "tmux", place: "inside", reason: "asked for, in a tmux pane" };
    hints.push(inside.reason);
  }
  const tmux = await input.probe.tmuxInstalled();
  if (!tmux.available) throw refusal("tmux", tmux);
  return told({ type: "tmux", place: "own", reason: "asked for" }, hints);
}

async function insistOnIterm2(input: ChoiceInput): Promise<BackendChoice> {
  const iterm = await input.probe.iterm2();
  if (!iterm.available) throw refusal("iterm2", iterm);
  return { type: "iterm2", reason: "asked for" };
}

async function insideTmux({ env, probe }: ChoiceInput): Promise<Availability> {
  if (tmuxAround(env) !== undefined) return probe.tmuxInside();
  return {
    available: false,
    code: "tmux-no-pane",
    reason: "TMUX is set, but TMUX and TMUX_PANE name no pane",
  };
}

function refusal(type: BackendType, { code, reason, remedy }: Availability): TroupeError {
  return new TroupeError(code, `the ${type} backend cannot be used: ${reason}`, {
    kind: "unavailable",
    ...(remedy === undefined ? {} : { remedy }),
  });
}

function told(choice: BackendChoice, hints: readonly string[]): BackendChoice {
  return hints.length === 0 ? choice : { ...choice, hint: hints.join("; ") };
}

function withRemedy(answer: Availability): string {
  return [answer.reason, ...remedyOf(answer)].join(": ");
}

function remedyOf({ remedy }: Availability): string[] {
  return remedy === undefined ? [] : [remedy];
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
