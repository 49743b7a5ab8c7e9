import fs from "node:fs";
import { messageOf } from "../../util/errors.js";
import { exec } from "../../util/exec.js";
import { oneLine } from "../../util/text.js";
import { isTroupeError } from "../failure.js";
import type { Finding } from "./finding.js";

/** Agent programs of others that can be teammates. */
const agentPrograms = ["claude", "codex", "gemini", "opencode"] as const;

const versionTimeoutMs = 5_000;

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Which agent programs are installed, asked all at once. */
export function checkAgentPrograms(place: Place, signal: AbortSignal): Promise<Finding[]> {
  return Promise.all(
    agentPrograms.map((program) => askVersion(program, [program, "--version"], place, signal)),
  );
}

/** The search program that agents' tools use: the one that came with troupe, else the one in PATH. */
export async function checkRipgrep(place: Place, signal: AbortSignal): Promise<Finding> {
  const bundled = await bundledRipgrep();
  const found = await askVersion("ripgrep", [bundled ?? "rg", "--version"], place, signal);
  if (found.state === "ok") return found;
  return { ...found, state: "warning", remedy: "install ripgrep (rg): agents search files with it" };
}

/** The library that gives programs of in-process teams a terminal. */
export async function checkTerminalLibrary(): Promise<Finding> {
  const { loadPty } = await import("../../../backends/pty.js");
  const library = await loadPty();
  const subject = "node-pty";
  if (!("missing" in library))
    return {
      subject,
      state: "ok",
      text: "installed; this version runs programs of in-process teams on pipes",
    };
  return {
    subject,
    state: "warning",
    text: `${oneLine(library.missing)}; programs of in-process teams run on pipes`,
    remedy: "npm install --include=optional",
  };
}

async function askVersion(
  subject: string,
  argv: readonly string[],
  { cwd, env }: Place,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const { stdout, stderr } = await exec(
      argv,
      { cwd, env, timeoutMs: versionTimeoutMs, maxBytes: 64 * 1024 },
      signal,
    );
    const line = oneLine((stdout.trim() || stderr.trim()).split("\n")[0] ?? "", 100);
    const version = /\d+(?:\.\d+)+\S*/.exec(line)?.[0];
    return { subject, state: "ok", text: line || "installed", ...(version === undefined ? {} : { version }) };
  } catch (error) {
    signal.throwIfAborted();
    if (isTroupeError(error) && error.code === "exec-not-started")
      return { subject, state: "absent", code: error.code, text: "not installed" };
    const code = isTroupeError(error) ? { code: error.code } : {};
    return { subject, state: "warning", ...code, text: oneLine(messageOf(error)) };
  }
}

async function bundledRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return fs.existsSync(rgPath) ? rgPath : undefined;
  } catch {
    return undefined; // no binary for this platform came with the package
  }
}
