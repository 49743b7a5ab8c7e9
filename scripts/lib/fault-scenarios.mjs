import { agent } from "./fault-agent.mjs";
import { library, python } from "./fault-programs.mjs";
import { follow, inbox } from "./fault-readers.mjs";
import { broadcast, file, replied, send, stdin } from "./fault-senders.mjs";

/**
 * A scenario is prepared once per lane in a home of its own. Each round gives the program to disturb, and a check that
 * tells, in words, what is wrong afterwards.
 * @typedef {(home: string, command: string) => Promise<{ begin: () => Round }>} Prepare
 */

/**
 * @typedef {object} Round
 * @property {import("./strace.mjs").Program} program
 * @property {(result: import("./strace.mjs").Ending, injection: { stream?: number }) => Promise<string[]>} check
 */

/**
 * What `scripts/faults` tries, and how large a part of a quick run each is.
 * @type {Readonly<Record<string, { prepare: Prepare, weight: number }>>}
 */
export const scenarios = {
  send: { prepare: send, weight: 4 },
  stdin: { prepare: stdin, weight: 1 },
  file: { prepare: file, weight: 1 },
  broadcast: { prepare: broadcast, weight: 3 },
  replied: { prepare: replied, weight: 2 },
  library: { prepare: library, weight: 3 },
  python: { prepare: python, weight: 1 },
  inbox: { prepare: inbox, weight: 3 },
  follow: { prepare: follow, weight: 3 },
  agent: { prepare: agent, weight: 3 },
};
