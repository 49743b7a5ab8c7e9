import type { ProcessIdentity } from "../src/util/process-identity.js";

/** The backends that troupe itself has. */
export type BackendType = "tmux" | "iterm2" | "in-process";

/** Whether a backend can be used here and now. `code` is stable and kebab-case; `ok` where available. */
export interface Availability {
  readonly available: boolean;
  readonly code: string;
  readonly reason: string;
  /** The command or setting that mends it on this platform. */
  readonly remedy?: string;
  /** Version of the program behind the backend, as it tells it. */
  readonly version?: string;
}

/** What a teammate is: an embedded agent, or another program by its argument vector. */
export type TeammateLaunch =
  | {
      readonly kind: "agent";
      /** The program that runs the agent where a backend needs a process of its own. */
      readonly argv: readonly string[];
    }
  | {
      readonly kind: "argv";
      readonly argv: readonly string[];
      /**
       * Needs a terminal, to be typed to or because it does nothing without one. A pane is one; in-process it then gets a
       * pseudo-terminal, and the spawn fails with `no-terminal` where there is no library for it. Without it, an in-process
       * program runs on pipes, its input empty: nobody is there to answer a pager or a prompt, which a program opens only on
       * a terminal, and its output stays plain lines, without progress bars drawn over and over.
       */
      readonly terminal?: boolean;
    };

/** Where a pane goes. Ignored by backends without panes. */
export interface Placement {
  readonly layout: "main-vertical" | "tiled" | "even-horizontal" | "even-vertical" | "windows";
  /** Width of the lead's pane in percent, 10 to 90. */
  readonly leadWidth: number;
  readonly maxPanesPerWindow: number;
}

/** Everything needed to start one teammate. The executor keeps no reference to it after `spawn`. */
export interface TeammateSpawnConfig {
  readonly agentId: string;
  readonly name: string;
  readonly team: string;
  /** 256-colour number of the teammate's colour. */
  readonly colour: number;
  /** An existing directory, absolute. */
  readonly cwd: string;
  /**
   * The environment of the teammate's process. Nothing else reaches it but `PWD`, `TROUPE_RUN_ID` (by which its stray
   * descendants are found again) and, on a terminal, that terminal's own `TERM`.
   */
  readonly env: Readonly<Record<string, string>>;
  readonly launch: TeammateLaunch;
  /** `run/<id>/` of this incarnation: exists, 0700, absolute. Launch script, ready and exit records, output.log go there. */
  readonly runDir: string;
  readonly placement: Placement;
  /**
   * How long `spawn` waits for proof of life, in milliseconds. Where starts take turns at a terminal (tmux), it counts from
   * when the pane is there; the wait for the turn has bounds of its own.
   */
  readonly deadlineMs: number;
}

/** Plain JSON, kept in the member's record, from which a later process can find the teammate again. */
export interface TeammateRef<Name extends string = BackendType> {
  readonly backend: Name;
  readonly agentId: string;
  /** The process at the root of the teammate's tree; absent for an embedded agent of an in-process team. */
  readonly process?: ProcessIdentity;
  /** Identity of the terminal server (socket, its pid and start time), where there is one. */
  readonly server?: { readonly socket: string; readonly process: ProcessIdentity };
  readonly pane?: string;
  readonly window?: string;
  /** The tag on the pane that says it is ours. */
  readonly tag?: string;
  /** The directory with the ready and exit records. */
  readonly runDir: string;
}

export type TeammateSpawnResult<Name extends string = BackendType> =
  | { readonly ok: true; readonly ref: TeammateRef<Name>; readonly pid: number }
  | {
      readonly ok: false;
      /**
       * Found before anything is started: `program-missing`, `cwd-missing`, `nul-in-argument`, `argument-too-long`,
       * `already-running`, `no-terminal`. Then `not-started` (exit code 126 or 127), `exited`, `deadline`, `aborted`,
       * `no-space`, `backend-failed`.
       */
      readonly code: string;
      readonly reason: string;
      /** The last lines that the teammate showed, made printable; empty where it showed nothing. */
      readonly screen: string;
    };

/** What was found and ended by `kill`. Every entry is a process by pid with a short description. */
export interface KillReport {
  readonly found: readonly ProcessNote[];
  readonly ended: readonly ProcessNote[];
  /** Still running after the whole ladder; empty when the kill is proven complete. */
  readonly survivors: readonly ProcessNote[];
  /** Something outlived TERM and its grace, so that KILL was sent. */
  readonly forced?: boolean;
  /** Found and left alone, as was asked, with what it started; runs still. In none of the other lists. */
  readonly kept?: readonly ProcessNote[];
  /** Was to be left alone, and is gone all the same, as with the terminal in whose foreground it ran. In none of the others. */
  readonly lost?: readonly ProcessNote[];
}

export interface ProcessNote {
  readonly pid: number;
  /** The program and its first arguments, made printable. */
  readonly command: string;
}

/**
 * How a teammate's program ended, as its exit record tells. In a pane only a shell's status is known: 128 + n is told
 * as signal n.
 */
export interface ExitRecord {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * What became of text that was typed: `submitted` where it showed on the terminal and the terminal then answered Enter;
 * else `unknown`, with the reason in words. Neither may be typed again without a person's leave.
 */
export type SubmitOutcome =
  | { readonly outcome: "submitted" }
  | { readonly outcome: "unknown"; readonly reason: string };

/** A message handed through the executor; the mailbox's format, which this layer does not look into. */
export type TeammateMessage = Readonly<Record<string, unknown>>;

/** Puts a message into the mailbox of `agentId`; given to every executor by the composer. */
export type DeliverMessage = (agentId: string, message: TeammateMessage) => Promise<void>;

/**
 * Starts, shows and ends teammates in one kind of place. Methods that name an `agentId` which this executor does not
 * know answer as for an ended one. `terminate`, `kill` and `isActive` are idempotent. `Name` is the backend's: one of
 * troupe's own, or another word for one that is not of this package.
 */
export interface TeammateExecutor<Name extends string = BackendType> {
  readonly type: Name;
  isAvailable(): Promise<Availability>;
  /** Resolves on proof of life, or explains. A failed or aborted spawn leaves no process, pane or file of its own running. */
  spawn(config: TeammateSpawnConfig, signal?: AbortSignal): Promise<TeammateSpawnResult<Name>>;
  sendMessage(agentId: string, message: TeammateMessage): Promise<void>;
  /** TERM to the process group, or an abort in-process; true if there was something to end. Does not wait for the end. */
  terminate(agentId: string, reason?: string): Promise<boolean>;
  /**
   * Ends the whole process tree and the pane, verified; resolves when nothing is left or the ladder is exhausted. A spawn
   * that is under way is given up, and waited for. A pane on a server that does not answer is told as a note, and closed
   * by a later call.
   */
  kill(agentId: string): Promise<KillReport>;
  /**
   * As `kill`, but leaves `keep` alone, with what those have started: the teammate is forgotten, and they go on without it.
   * Which of them ended all the same is told as `lost`.
   */
  killExcept?(agentId: string, keep: readonly ProcessIdentity[]): Promise<KillReport>;
  /** The process, not the pane. A server that does not answer is `unknown`, not `gone`. */
  isActive(agentId: string): Promise<"alive" | "gone" | "unknown">;
  /** Takes back a teammate that an earlier host started; false if it is not there any more. Required of pane backends. */
  adopt?(ref: TeammateRef<Name>): Promise<boolean>;
  /** Brings the pane of a teammate before the user's eyes. */
  focus?(agentId: string): Promise<void>;
  /**
   * Shows what a teammate does beside its name, where its place has a label: a word or two, told at every change. For one
   * that is just starting it is kept until there is a place. Never rejects; a place that is gone shows nothing.
   */
  showState?(agentId: string, text: string): Promise<void>;
  /** The last `lines` lines of a teammate's pane or output, made printable. */
  capture?(agentId: string, lines: number): Promise<string>;
  /**
   * Types `text` into a teammate's terminal, as one paste where its program asked for that, and Enter once the text shows there.
   * Control characters but line feeds and tabs are left out, line ends behind the text, too. One after the other per teammate.
   * `unknown` where the text does not show in time (then Enter is not pressed: it could answer something else) or Enter
   * shows no answer; nothing is ever typed twice. Rejects with TroupeError where nothing was typed: `not-running`,
   * `no-terminal`, `pane-gone`, `input-off`, `text-too-long` (4 MiB), `nothing-to-type`, `lock-busy`, `tmux-…`; or
   * with the signal's reason. A program that reads by lines gets every line of the text as it comes, and the system cuts
   * lines there at 4 KB.
   */
  submitText?(agentId: string, text: string, signal?: AbortSignal): Promise<SubmitOutcome>;
  /** The command that attaches a terminal to a place of our own where the panes are; undefined where there is none. */
  attachCommand?(): readonly string[] | undefined;
  /** Lets go of what the executor itself holds (a server of its own, watchers). Ends no teammate. */
  close?(): Promise<void>;
}
