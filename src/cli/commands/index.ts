import type { Command } from "../command.js";
import { attach } from "./attach.js";
import { clean } from "./clean.js";
import { doctor } from "./doctor.js";
import { down } from "./down.js";
import { guard } from "./guard.js";
import { host } from "./host.js";
import { inbox } from "./inbox.js";
import { logs } from "./logs.js";
import { mail } from "./mail.js";
import { run } from "./run.js";
import { send } from "./send.js";
import { spawn } from "./spawn.js";
import { status } from "./status.js";
import { stop } from "./stop.js";
import { teammate } from "./teammate.js";
import { up } from "./up.js";

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  up,
  run,
  spawn,
  send,
  inbox,
  mail,
  status,
  logs,
  attach,
  stop,
  down,
  clean,
  doctor,
  host,
  teammate,
  guard,
];
