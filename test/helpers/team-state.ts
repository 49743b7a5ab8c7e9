import { locateTeam } from "../../src/team/locate.js";
import { type MemberStatus, type TeamStatus, teamStatus } from "../../src/team/status.js";
import type { Place } from "./place.js";
import { until } from "./until.js";

/** What `troupe status` would show of a team (default: the place's only one), without a process of its own. */
export function stateOf(place: Place, team?: string): TeamStatus {
  return teamStatus(locateTeam({ home: place.home, cwd: place.project, env: {}, team }));
}

/** Waits until a member is in a state, and gives what there is to know of it. */
export function memberIn(place: Place, name: string, state: MemberStatus["state"]): Promise<MemberStatus> {
  return until(
    () => stateOf(place).members.find((member) => member.name === name && member.state === state),
    `${name} is ${state}`,
    () => JSON.stringify(stateOf(place).members, undefined, 1),
  );
}

/** Waits until a member's activity is of some kind. */
export async function memberDoes(place: Place, name: string, activity: RegExp): Promise<void> {
  await until(
    () =>
      stateOf(place).members.some((member) => member.name === name && activity.test(member.activity ?? "")),
    `${name} does ${activity}`,
    () => JSON.stringify(stateOf(place).members, undefined, 1),
  );
}
