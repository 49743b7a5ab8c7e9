// teammate.mjs SPEC: runs the teammate that the file describes in this process, and says on stdout when it has started.
import { createBackoff } from "../../../../src/agent/model/backoff.js";
import { readAgentSpec } from "../../../../src/team/runtime/agent-spec.js";
import { runTeammate } from "../../../../src/team/runtime/teammate.js";

await runTeammate(readAgentSpec(process.argv[2] ?? ""), {
  env: process.env as Record<string, string>,
  backoff: createBackoff(),
  report: () => undefined,
  started: () => console.log("started"),
  signal: new AbortController().signal,
});
