// Runs one embedded agent by the real runtime, without a host: its states are lines of JSON on stdout. SIGTERM ends it.
// Bundled before it is run, from the sources.
//
//   node fault-agent-program.mjs SPEC
import fs from "node:fs";
import { createBackoff } from "../../src/agent/model/backoff.ts";
import { failureOf, renderFailure } from "../../src/cli/failure.ts";
import { readAgentSpec } from "../../src/team/runtime/agent-spec.ts";
import { runTeammate } from "../../src/team/runtime/teammate.ts";

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("asked to end")));
try {
  await runTeammate(readAgentSpec(process.argv[2] ?? ""), {
    env: { PATH: process.env["PATH"] ?? "" },
    backoff: createBackoff(),
    report(news) {
      if (news.type === "state") fs.writeSync(1, `${JSON.stringify(news.state)}\n`);
    },
    started: () => undefined,
    signal: stop.signal,
  });
} catch (error) {
  if (error !== stop.signal.reason) {
    fs.writeSync(2, renderFailure(failureOf(error), { json: false, debug: false }));
    process.exitCode = 1;
  }
}
