import { teamPaths } from "../team/paths.js";
import { readMember, readTeamRecord } from "../team/records.js";
import type { AgentSpec } from "../team/runtime/agent-spec.js";
import { runPaneTeammate } from "../team/runtime/pane-teammate.js";
import { TroupeError } from "../util/errors.js";
import type { Io } from "./io.js";
import { openMemberView } from "./member-view.js";

/** Runs an embedded agent in this terminal, with its view. Ctrl-C interrupts its turn, as Esc does; it does not end it. */
export async function teammateHere(spec: AgentSpec, io: Io): Promise<void> {
  const paths = teamPaths(spec.home, spec.dirName);
  const team = { paths, record: readTeamRecord(paths) };
  const member = readMember(paths, spec.name);
  if (member === undefined)
    throw new TroupeError("no-member", `${spec.name} is not a member of ${spec.team}`, { kind: "not-found" });
  const view = openMemberView(team, member, io, () =>
    view.show({
      at: new Date().toISOString(),
      type: "notice",
      level: "info",
      text: `Esc interrupts the turn; troupe stop ${spec.name} ends this teammate`,
    }),
  );
  try {
    await runPaneTeammate(spec, { env: definedOnly(io.env), onEvent: view.show, signal: io.signal });
  } finally {
    view.close();
  }
}

function definedOnly(env: Io["env"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
