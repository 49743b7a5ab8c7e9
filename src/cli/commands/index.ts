import type { Command } from "../command.js";
import { inbox } from "./inbox.js";
import { send } from "./send.js";

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  // up, run, spawn
  send,
  inbox,
  // status, logs, attach
  // stop, down
  // doctor
  // host, teammate (hidden)
];
