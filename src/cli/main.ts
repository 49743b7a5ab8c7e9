import type { Io } from "./io.js";
import { runLine } from "./program.js";

export { listenForMail } from "../team/uds-listen.js";

/** The whole command line but its fast path; resolves to the exit code, and throws what the command throws. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  return runLine(argv, io);
}
