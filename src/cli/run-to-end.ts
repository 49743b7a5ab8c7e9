import type { TeamEvent } from "../team/events.js";
import type { Outcome } from "../team/host/outcome.js";
import { type StartRequest, startTeam } from "../team/start.js";
import { createProgress } from "../ui/progress.js";
import { failCurrent } from "../util/context.js";
import { exitCodes, TroupeError } from "../util/errors.js";
import { openAttached } from "./attached.js";
import { holdLastText } from "./hold-last-text.js";
import type { Io } from "./io.js";
import { hasTerminal, openViewer, type Viewer } from "./viewer.js";

/**
 * Hosts a team in this process until its work is done, then ends it and prints the result. In panes the person sees the
 * lead's view, or the team's own session; else progress lines. Exit code 1 where a member failed.
 */
export async function runToEnd(
  request: StartRequest,
  io: Io,
  options: { readonly json: boolean; readonly timeout: number | undefined },
): Promise<number> {
  io.claimFailures(failCurrent);
  const leave = new AbortController();
  const timer = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout);
  const stop = AbortSignal.any([io.signal, leave.signal, ...(timer === undefined ? [] : [timer])]);
  const early: TeamEvent[] = [];
  let viewer: Viewer | undefined;
  const team = await startTeam(request, {
    env: io.env,
    signal: new AbortController().signal,
    onEvent: (event) => void (viewer === undefined ? early.push(event) : viewer.show(event)),
  });
  const inPanes = request.backend.type !== "in-process" && hasTerminal(io) && !options.json;
  const ownSession = inPanes && request.backend.place === "own";
  const attached = ownSession ? openAttached(io) : undefined;
  if (attached !== undefined) viewer = attached;
  else if (inPanes || options.json) viewer = openViewer(team, io, options.json, () => leave.abort());
  else viewer = holdLastText("lead", createProgress({ output: io.stderr, env: io.env }));
  for (const event of early) viewer.show(event);

  let outcome: Outcome | undefined;
  // Whoever interrupts wants the end, not last words; members that are just starting are given up.
  const interrupt = (): void =>
    void team.host.down({ reason: timer?.aborted ? "its time was up" : "interrupted", timeoutMs: 0 });
  stop.addEventListener("abort", interrupt, { once: true });
  if (stop.aborted) interrupt();
  try {
    await team.host.start();
    await attached?.open(team.host.watchCommand());
    outcome = await Promise.race([team.host.done(stop), team.host.closed.then(() => undefined)]);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    await team.host.down({ reason: outcome === undefined ? "the run failed" : "the work is done" });
    await team.host.closed;
    viewer.close();
    await attached?.closed();
  }
  if (timer?.aborted && !io.signal.aborted) throw late(options.timeout);
  if (outcome === undefined) return leave.signal.aborted ? 130 : exitCodes.failed;
  // The lead's view has shown it on this very terminal.
  const shown = inPanes && !ownSession && !options.json;
  await print(shown ? { ...outcome, text: "" } : outcome, io, options.json);
  return outcome.failed.length === 0 ? 0 : exitCodes.failed;
}

async function print({ text, failed }: Outcome, io: Io, json: boolean): Promise<void> {
  if (json) return io.print(`${JSON.stringify({ type: "outcome", failed, text })}\n`);
  if (text !== "") await io.print(`${text.trimEnd()}\n`);
  if (failed.length > 0) await io.note(`troupe: failed: ${failed.join(", ")}`);
}

function late(timeout: number | undefined): TroupeError {
  return new TroupeError("time-limit", `the work was not done within ${(timeout ?? 0) / 1000} s`, {
    kind: "limit",
    remedy: "what was done: troupe logs NAME; more time: --timeout",
  });
}
