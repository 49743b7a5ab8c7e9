import type { TeammateExecutor } from "../../../backends/types.js";
import type { Slots } from "../../util/slots.js";
import type { EventHub } from "../event-hub.js";
import type { Executors } from "../open-executors.js";
import type { TeamPaths } from "../paths.js";
import type { Postman } from "../postman.js";
import type { TeamRecord } from "../records.js";
import type { TeamFile } from "../team-file/schema.js";
import type { Greetings } from "./greetings.js";
import type { Roster } from "./roster.js";

/** What the parts of a host share; made once, passed down. */
export interface HostContext {
  readonly paths: TeamPaths;
  readonly record: TeamRecord;
  readonly file: TeamFile;
  readonly roster: Roster;
  readonly hub: EventHub;
  /** Where a member runs: an agent lead in this process, everybody else where the team's backend says. */
  readonly executorFor: (member: { readonly name: string }) => TeammateExecutor;
  readonly executors: Executors;
  /** Sends with the host's own seal. */
  readonly postman: Postman;
  /** The environment that members start from; nothing of another team or terminal in it. */
  readonly env: Readonly<Record<string, string>>;
  /** The command that runs this troupe, for panes and for the `troupe` that teammates find in PATH. */
  readonly troupe: readonly string[];
  /** Model of agents that name none, and the offline model's script; absolute. */
  readonly model: string | undefined;
  readonly modelScript: string | undefined;
  /** Aborted when nobody may join any more: the team is ending. */
  readonly starting: AbortController;
  readonly greeted: Greetings;
  /** In which members are brought up: agents that get a process of their own, which is work for a processor, and others. */
  readonly slots: { readonly agentProcesses: Slots; readonly others: Slots };
  /** Incarnations whose end is being settled. */
  readonly settling: Set<string>;
  /** Aborted when the host must end at once. */
  readonly signal: AbortSignal;
}
