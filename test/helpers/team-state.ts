import type { Place } from "./place.js";
import { until } from "./until.js";

/** Waits until `troupe status` shows a member in a state, and gives what it shows of it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into documents as deep as they like
export async function memberIn(place: Place, name: string, state: string): Promise<any> {
  let last = "";
  return until(
    async () => {
      const { members } = await place.json(["status"]);
      last = JSON.stringify(members, undefined, 1);
      return members.find(
        (member: { name: string; state: string }) => member.name === name && member.state === state,
      );
    },
    `${name} is ${state}`,
    () => last,
  );
}
