import { memberNamed } from "../../team/send.js";
import { type TeamStatus, teamStatus } from "../../team/status.js";
import { oneLine } from "../../util/text.js";
import { defineCommand } from "../command.js";
import type { Io } from "../io.js";
import { printResult } from "../output.js";
import { teamOf } from "../team-of.js";

export const status = defineCommand({
  name: "status",
  describe: "Show a team's members: state and why, activity, unread mail, tokens, where they run",
  positionals: ["NAME"],
  required: 0,
  options: {},
  examples: [
    ["troupe status", "the team of this directory"],
    ["troupe status reviewer --json", "one member, for a program"],
  ],
  async run({ options, positionals: [name] }, io) {
    const team = teamOf(io, options.team);
    const only = name === undefined ? undefined : memberNamed(team, name);
    const all = teamStatus(team);
    const shown = only === undefined ? all.members : all.members.filter((member) => member.name === only);
    const document = { ...all, members: shown };
    await printResult(io, options.json, document, options.json ? "" : await statusText(document, io));
    return 0;
  },
});

async function statusText(team: TeamStatus, io: Io): Promise<string> {
  const [{ renderStatus }, { createStyle }] = await Promise.all([
    import("../../ui/status-table.js"),
    import("../../ui/style.js"),
  ]);
  const style = createStyle(io.stdout, io.env);
  const columns = io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  const rows = renderStatus(team.members, { style, columns, now: new Date() });
  const head = `${style.bold(oneLine(team.team))}  ${hostWords[team.host.state]}  ${style.dim(
    `${team.backend} (${oneLine(team.backendReason)})  ${oneLine(team.projectRoot)}`,
  )}`;
  const advice = team.host.advice === undefined ? [] : [style.warn(team.host.advice)];
  return [head, ...rows, ...advice].map((line) => `${line}\n`).join("");
}

const hostWords: Readonly<Record<TeamStatus["host"]["state"], string>> = {
  running: "running",
  gone: "its host is gone",
  ended: "ended",
  none: "not started",
};
