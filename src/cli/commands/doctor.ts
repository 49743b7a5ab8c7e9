import os from "node:os";
import { troupeHome } from "../../team/paths.js";
import { exitCodes } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { version } from "../../util/version.js";
import { defineCommand } from "../command.js";
import type { Finding } from "../doctor/finding.js";
import type { Io } from "../io.js";
import { printResult } from "../output.js";

export const doctor = defineCommand({
  name: "doctor",
  describe: "Show what was found on this machine and would be chosen, and what mends what is missing",
  positionals: [],
  required: 0,
  options: {},
  examples: [["troupe doctor", "exit code 1 if something keeps troupe from working"]],
  async run({ options }, io) {
    const groups = await examine(io);
    const ok = groups.every(({ findings }) => findings.every(({ state }) => state !== "problem"));
    const document = {
      version,
      ok,
      ...Object.fromEntries(groups.map(({ key, findings }) => [key, findings])),
    };
    await printResult(io, options.json, document, options.json ? "" : await doctorText(groups, io));
    return ok ? 0 : exitCodes.failed;
  },
});

interface Group {
  readonly key: string;
  readonly title: string;
  readonly findings: readonly Finding[];
}

async function examine(io: Io): Promise<Group[]> {
  const [machine, watching, programs, backends] = await Promise.all([
    import("../doctor/machine.js"),
    import("../doctor/watching.js"),
    import("../doctor/programs.js"),
    import("../doctor/backends.js"),
  ]);
  const { env, signal } = io;
  // Programs are asked in a directory that tells them nothing.
  const place = { cwd: os.tmpdir(), env: definedOnly(env) };
  const conditions = {
    env,
    stdinIsTerminal: io.stdin.isTTY === true,
    stderrIsTerminal: io.stderr.isTTY === true,
  };
  const probes = backends.probesFor(env);
  const home = troupeHome(env);
  const [watch, agents, ripgrep, terminal, places, choices] = await Promise.all([
    watching.checkWatching(home, signal),
    programs.checkAgentPrograms(place, signal),
    programs.checkRipgrep(place, signal),
    programs.checkTerminalLibrary(),
    backends.checkBackends(env, probes),
    backends.checkChoices(conditions, probes),
  ]);
  return [
    {
      key: "machine",
      title: `troupe ${version}`,
      findings: [
        machine.checkNode(),
        machine.checkHome(home),
        watch,
        watching.checkInotify(),
        ripgrep,
        terminal,
        machine.checkModelAccess(env),
      ],
    },
    { key: "backends", title: "Where teammates can run", findings: places },
    { key: "choices", title: "What would be chosen here", findings: choices },
    { key: "agents", title: "Agent programs", findings: agents },
  ];
}

async function doctorText(groups: readonly Group[], io: Io): Promise<string> {
  const { createStyle } = await import("../../ui/style.js");
  const style = createStyle(io.stdout, io.env);
  const { done, failed, warning, running } = style.symbols;
  const marks: Readonly<Record<Finding["state"], string>> = {
    ok: style.good(done),
    warning: style.warn(warning),
    problem: style.bad(failed),
    absent: style.dim(running),
  };
  const width = Math.max(...groups.flatMap(({ findings }) => findings.map(({ subject }) => subject.length)));
  const lines = groups.flatMap(({ title, findings }) => [
    style.bold(title),
    ...findings.flatMap(({ state, subject, text, remedy }) => [
      `  ${marks[state]} ${subject.padEnd(width)}  ${oneLine(text)}`,
      ...(remedy === undefined ? [] : [`    ${" ".repeat(width)}  ${style.dim(oneLine(remedy))}`]),
    ]),
  ]);
  return `${lines.join("\n")}\n`;
}

function definedOnly(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
