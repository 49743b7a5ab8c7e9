import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as z from "zod";
import { type ErrorKind, exitCodes, TroupeError } from "../../util/errors.js";
import { withDeadline } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import { type TeamPaths, teamPaths } from "../paths.js";
import type { StartRequest } from "../start.js";

/** What a detached host writes as its one line on stdout once it listens, or could not start. */
export const hostAnswerSchema = z.union([
  z.object({ ok: z.literal(true), dirName: z.string() }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      code: z.string(),
      kind: z.string(),
      message: z.string(),
      remedy: z.string().optional(),
    }),
  }),
]);

export type HostAnswer = z.infer<typeof hostAnswerSchema>;

/**
 * Starts a host in a session of its own and waits until it listens; the members start after that. Errors are the host's
 * own; a host that does not answer in time is ended.
 */
export async function launchHost(
  request: StartRequest,
  env: Readonly<Record<string, string | undefined>>,
  signal?: AbortSignal,
): Promise<TeamPaths> {
  const [program = process.execPath, ...args] = request.troupe;
  const child = spawn(program, [...args, "host"], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env,
    cwd: "/",
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-2_000);
  });
  try {
    const answer = await withDeadline(
      "the team's host",
      defaults.hostReadyMs,
      () => answerOf(child, request),
      signal,
    );
    if (answer === undefined)
      throw new TroupeError(
        "host-failed",
        `the host ended before it was ready: ${complaint.trim() || "no reason given"}`,
      );
    if (answer.ok) return teamPaths(request.home, answer.dirName);
    const { code, kind, message, remedy } = answer.error;
    throw new TroupeError(code, message, {
      kind: Object.hasOwn(exitCodes, kind) ? (kind as ErrorKind) : "failed",
      ...(remedy === undefined ? {} : { remedy }),
    });
  } catch (error) {
    // Ours by construction: it has not been waited for, so its pid cannot have been given away.
    if (child.exitCode === null) child.kill("SIGKILL");
    throw error;
  } finally {
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}

function answerOf(child: ReturnType<typeof spawn>, request: StartRequest): Promise<HostAnswer | undefined> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    if (child.stdout === null || child.stdin === null) return reject(new Error("the host has no pipes"));
    const lines = createInterface({ input: child.stdout });
    lines.once("line", (line) => resolve(hostAnswerSchema.parse(JSON.parse(line))));
    lines.once("close", () => resolve(undefined));
    // A host that ended early closes the pipe; its stderr says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(request));
  });
}
