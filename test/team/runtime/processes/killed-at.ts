// killed-at.mjs SPEC EDGE: runs the teammate that the file describes, and kills itself at one edge of its work with mail.
import fs from "node:fs";
import { open } from "node:fs/promises";
import { createBackoff } from "../../../../src/agent/model/backoff.js";
import { readAgentSpec } from "../../../../src/team/runtime/agent-spec.js";
import { runTeammate } from "../../../../src/team/runtime/teammate.js";

const [specFile = "", edge = ""] = process.argv.slice(2);

function at(reached: string): void {
  if (reached === edge) process.kill(process.pid, "SIGKILL");
}

const handle = await open(specFile);
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();
const { appendFile } = FileHandle;
FileHandle.appendFile = async function (this: unknown, line: string) {
  const { type } = JSON.parse(line.trim());
  at(`before the ${type} record`);
  if (edge === `within the ${type} record`) await appendFile.call(this, line.slice(0, line.length / 2));
  at(`within the ${type} record`);
  await appendFile.call(this, line);
  at(`after the ${type} record`);
};

const { renameSync } = fs;
fs.renameSync = (from, to) => {
  const acknowledges = String(to).includes("/done/");
  if (acknowledges) at("before the acknowledgement");
  renameSync(from, to);
  if (acknowledges) at("after the acknowledgement");
};

const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  at("before the request");
  const response = await fetch(...request);
  at("after the request");
  return response;
};

await runTeammate(readAgentSpec(specFile), {
  env: process.env as Record<string, string>,
  backoff: createBackoff(),
  report: () => undefined,
  started: () => undefined,
  signal: new AbortController().signal,
});
