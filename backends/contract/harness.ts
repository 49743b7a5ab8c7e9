import type { DeliverMessage, TeammateExecutor } from "../types.js";

/** One promise, checked by itself. */
export interface ContractCase {
  /** The promise in words; no two cases have the same. */
  readonly name: string;
  /**
   * Rejects with what is wrong: an AssertionError, or what the executor threw. Ends whatever it started. Takes seconds
   * where the promise is kept; what does not come is given up after 20 seconds. A call of the executor that never settles
   * is for the runner's own time limit.
   */
  run(): Promise<void>;
}

/** What the suite gives to a case's executor. */
export interface ContractTools {
  /** An empty directory of the case, 0700 and absolute, removed behind it: for sockets, locks, logs. */
  readonly dir: string;
  /** The mailboxes of the case, to be handed to the executor: what `sendMessage` hands over must arrive here. */
  readonly deliver: DeliverMessage;
}

/** What the suite needs to know of an executor. Made anew for every case. */
export interface ExecutorHarness {
  readonly executor: TeammateExecutor<string>;
  /** An executor as a later host would make it, which has started nothing. Wanted where `adopt` is offered. */
  successor?(): TeammateExecutor<string>;
  /**
   * Whatever is visible of teammates outside of their processes, such as panes, a string for each. A case compares what is
   * there before and after it; so it should tell, too, what must not change, such as which pane has the focus.
   */
  places?(): readonly string[] | Promise<readonly string[]>;
  /** Programs with the behaviours that cases need; default {@link posixPrograms}. */
  readonly programs?: ContractPrograms;
  /** Called last, after every teammate of the case was killed and the executor closed. */
  dispose?(): void | Promise<void>;
}

/** Argument vectors. */
export interface ContractPrograms {
  /** Runs until it is ended. */
  readonly stays: readonly string[];
  /** Shows a text, as lines, and stays. */
  says(text: string): readonly string[];
  /** Ends at once with an exit code. */
  exits(code: number): readonly string[];
}

/** What every system with a shell has. */
export const posixPrograms: ContractPrograms = {
  stays: ["sleep", "300"],
  says: (text) => ["/bin/sh", "-c", 'printf "%s\\n" "$1"; exec sleep 300', "say", text],
  exits: (code) => ["/bin/sh", "-c", `exit ${code}`],
};
