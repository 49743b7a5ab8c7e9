import path from "node:path";
import * as z from "zod";
import { ExecError, type ExecResult, exec } from "../../util/exec.js";
import { oneLine } from "../../util/text.js";
import { isReadOnlyCommand } from "../permissions/read-only-command.js";
import type { Tool, ToolContext } from "../tool.js";
import { createBoundedOutput } from "./bounded-output.js";

const description = `Runs a command in bash and gives its output and exit code.
- Each call starts in the working directory with an empty stdin and no terminal; nothing of one call's shell is left for the next.
- timeout is in milliseconds, default 120000, at most 600000. At it, and when you are interrupted, the command and all that it started are ended.
- Output of more than 30000 bytes is cut in the middle; the result names the file that has it all.
- A process put into the background keeps running only if its output goes elsewhere (> file 2>&1 &).
- To read, find or change files use Read, Grep, Glob, Edit and Write instead of cat, grep, find or sed.`;

const schema = z.strictObject({
  command: z.string().min(1).describe("The command"),
  timeout: z.number().int().min(1).max(600_000).optional().describe("Milliseconds; default 120000"),
  description: z.string().optional().describe("What it does, in 5 to 10 words"),
});

const limits = { shownBytes: 30_000, fileBytes: 64 * 1024 * 1024 };

export type BashInput = z.infer<typeof schema>;

export function createBashTool(): Tool<BashInput> {
  return {
    name: "Bash",
    description,
    schema,
    isReadOnly: (input) => isReadOnlyCommand(input.command),
    subjectKind: "command",
    summarise: (input) => oneLine(input.command),
    permissionSubjects: (input) => [input.command],
    async run({ command, timeout = 120_000 }, context) {
      const output = createBoundedOutput(outputFile(context), limits);
      try {
        const result = await exec(
          ["bash", "-c", command],
          {
            cwd: context.cwd,
            env: childEnvironment(context.env),
            timeoutMs: timeout,
            onOutput: output.write,
            okCodes: "any",
            keepBackground: true,
          },
          context.signal,
        );
        return { content: withNotes(output.text(), notes(result)), isError: result.exitCode !== 0 };
      } catch (error) {
        if (!(error instanceof ExecError) || error.failure.reason !== "timeout") throw error;
        const note = `Timed out after ${timeout / 1000} s; the command and what it started were ended.`;
        return { content: withNotes(output.text(), [note]), isError: true };
      } finally {
        output.close();
      }
    },
  };
}

/** A command must not find the terminal multiplexer that shows its agent. */
function childEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const { TMUX: _server, TMUX_PANE: _pane, ...rest } = env;
  return rest;
}

function outputFile({ outputDir, toolUseId }: ToolContext): string {
  const unique = `${toolUseId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80)}-${process.hrtime.bigint().toString(36)}`;
  return path.join(outputDir, `bash-${unique}.log`);
}

function notes(result: ExecResult): string[] {
  const ended = result.exitCode === undefined ? `ended by ${result.signal}` : `exit code ${result.exitCode}`;
  if (result.leftBehind === "ended")
    return [ended, "what it left in the background was ended, because its output was not redirected"];
  if (result.leftBehind === "running")
    return [ended, `still running in the background; end it with: kill -- -${result.pgid}`];
  return [ended];
}

function withNotes(output: string, lines: readonly string[]): string {
  const text = output.trimEnd();
  return `${text === "" ? "(no output)" : text}\n${lines.map((line) => `[${line}]`).join("\n")}`;
}
