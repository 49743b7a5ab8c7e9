import { openEventHub } from "../../../src/team/event-hub.js";
import type { TeamEvent } from "../../../src/team/events.js";
import type { HostContext } from "../../../src/team/host/context.js";
import { createGreetings } from "../../../src/team/host/greetings.js";
import { createRoster } from "../../../src/team/host/roster.js";
import { createPostman } from "../../../src/team/postman.js";
import { readMembers } from "../../../src/team/records.js";
import type { TeamFile } from "../../../src/team/team-file/schema.js";
import { createSlots } from "../../../src/util/slots.js";
import { createExecutorDouble } from "../../helpers/executor-double.js";
import type { LivingTeam } from "../living-team.js";

/** What the parts of a host share, for a team on disk whose members run in an executor's double. */
export async function hostContext(
  team: LivingTeam,
  file: Partial<TeamFile> = {},
): Promise<HostContext & { readonly events: TeamEvent[] }> {
  const { paths, record } = team;
  const hub = openEventHub(paths.events);
  const events: TeamEvent[] = [];
  hub.listen((event) => events.push(event));
  const roster = createRoster(paths, hub);
  for (const member of readMembers(paths)) await roster.put(member);
  const double = createExecutorDouble({ deliver: async () => undefined });
  return {
    paths,
    record,
    file: { name: record.name, teammates: [], ...file },
    roster,
    hub,
    events,
    executorFor: () => double,
    executors: { own: double, members: double, close: async () => undefined },
    postman: createPostman({ team, from: "host", privateKey: team.key("host") }),
    env: {},
    troupe: ["troupe"],
    model: undefined,
    modelScript: undefined,
    starting: new AbortController(),
    greeted: createGreetings(),
    slots: { agentProcesses: createSlots(2), others: createSlots(4) },
    settling: new Set(),
    signal: new AbortController().signal,
  };
}
