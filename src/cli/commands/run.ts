import type { Outcome } from "../../team/host/host.js";
import { exitCodes, TroupeError } from "../../util/errors.js";
import { defineCommand } from "../command.js";
import { planFrom, startOptions } from "../start-options.js";

export const run = defineCommand({
  name: "run",
  describe: "Run a team, or one agent on a task, until the work is done; print the result",
  positionals: ["WHAT"],
  required: 1,
  options: {
    ...startOptions,
    timeout: { type: "duration", arg: "TIME", describe: "give up after this time, with exit code 6" },
  },
  examples: [
    ["troupe run review.yaml", "the team in review.yaml, in this process"],
    ['troupe run "explain src/auth"', "one agent that leads and may write to you"],
    ["troupe run team.yaml --backend auto", "in panes where there is a terminal"],
    ["troupe run team.yaml --json", "events as NDJSON on stdout"],
  ],
  async run({ options, positionals: [what = ""] }, io) {
    const [{ startTeam }, { createProgress }, { watchInPanes }] = await Promise.all([
      import("../../team/start.js"),
      import("../../ui/progress.js"),
      import("../watch-in-panes.js"),
    ]);
    const { request } = await planFrom("run", what, options, io);
    const progress = createProgress({ output: io.stderr, env: io.env });
    const panes = watchInPanes(io);
    const kill = new AbortController();
    const team = await startTeam(request, {
      env: io.env,
      signal: kill.signal,
      onEvent: (event) => {
        if (options.json) void io.print(`${JSON.stringify(event)}\n`);
        else if (!panes.watching) progress.show(event);
      },
    });
    const late = new TroupeError("time-limit", `the work was not done within ${options.timeout} ms`, {
      kind: "limit",
      remedy: "what was done: troupe logs NAME; more time: --timeout",
    });
    const timer = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout);
    const stop = timer === undefined ? io.signal : AbortSignal.any([io.signal, timer]);
    let outcome: Outcome | undefined;
    let reason = "the work is done";
    try {
      await team.host.start();
      if (!options.json) await panes.open(team.host.watchCommand());
      outcome = await Promise.race([team.host.done(stop), team.host.closed.then(() => undefined)]);
    } catch (error) {
      if (!stop.aborted) throw error;
      reason = timer?.aborted ? late.message : "interrupted";
    } finally {
      // Whoever interrupts wants the end, not last words.
      await team.host.down(outcome === undefined ? { reason, timeoutMs: 0 } : { reason });
      await team.host.closed;
      await panes.close();
    }
    if (timer?.aborted && !io.signal.aborted) throw late;
    if (outcome === undefined) return exitCodes.failed;
    const { text, failed } = outcome;
    if (options.json) await io.print(`${JSON.stringify({ type: "outcome", failed, text })}\n`);
    else if (text !== "") await io.print(`${text}\n`);
    if (failed.length === 0) return 0;
    await io.note(`troupe: failed: ${failed.join(", ")}`);
    return exitCodes.failed;
  },
});
