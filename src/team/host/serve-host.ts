import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { messageOf, TroupeError } from "../../util/errors.js";
import type { TeamEvent } from "../events.js";
import { startRequestSchema, startTeam } from "../start.js";
import { endWithLast } from "./end-with-last.js";
import { logEvent } from "./host-log.js";
import type { HostAnswer } from "./launch-host.js";

/**
 * Runs a detached host: reads the start request from `input`, answers with one line on `output` once it listens, starts
 * the members and stays until the team has ended. What happens goes to `run/host.log`.
 */
export async function serveHost(options: {
  readonly input: Readable;
  readonly output: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the team, in order. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const answer = (value: HostAnswer): void => void options.output.write(`${JSON.stringify(value)}\n`);
  // Whoever started the host may go before it has read the answer.
  options.output.on("error", () => undefined);
  const early: TeamEvent[] = [];
  let log: (event: TeamEvent) => void = (event) => void early.push(event);
  try {
    const request = startRequestSchema.parse(JSON.parse(await text(options.input)));
    const team = await startTeam(request, {
      env: options.env,
      onEvent: (event) => log(event),
      signal: new AbortController().signal,
    });
    log = (event) => logEvent(team.paths.hostLog, event);
    early.forEach(log);
    answer({ ok: true, dirName: team.paths.dirName });
    const end = (): void => void team.host.down({ reason: `the host got a signal` });
    options.signal.addEventListener("abort", end, { once: true });
    if (options.signal.aborted) end();
    await team.host.start();
    await endWithLast(team.host);
  } catch (error) {
    const kind = error instanceof TroupeError ? error.kind : "failed";
    const code = error instanceof TroupeError ? error.code : "internal";
    const remedy = error instanceof TroupeError ? error.remedy : undefined;
    answer({
      ok: false,
      error: { code, kind, message: messageOf(error), ...(remedy === undefined ? {} : { remedy }) },
    });
    throw error;
  }
}
