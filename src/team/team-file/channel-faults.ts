import { TroupeError } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import { checkName } from "../names.js";
import { nearest } from "../nearest.js";
import type { Fault } from "./load.js";
import type { TeamFile } from "./schema.js";

/** What is wrong with a team file's channels: names that are none, the same one twice, members that nobody is. */
export function channelFaults({ channels = {}, teammates }: TeamFile): Fault[] {
  const members = [...teammates.map(({ name }) => name), "lead", "user"];
  const known = new Set(members.map(nameKey));
  const taken = new Map<string, string>();
  return Object.entries(channels).flatMap(([channel, names]) => {
    const atName = (text: string): Fault => ({ path: ["channels"], atKey: channel, text });
    const why = refusal(channel);
    const same = taken.get(nameKey(channel));
    taken.set(nameKey(channel), channel);
    return [
      ...(why === undefined ? [] : [atName(why)]),
      ...(same === undefined ? [] : [atName(`${channel} and ${same} are the same name`)]),
      ...names.flatMap((name, index): Fault[] => {
        if (known.has(nameKey(name))) return [];
        const near = nearest(name, members);
        const hint = near === undefined ? `members: ${members.join(", ")}` : `did you mean ${near}?`;
        const text = `channel ${channel} names ${JSON.stringify(name)}, who is no member; ${hint}`;
        return [{ path: ["channels", channel, index], text }];
      }),
    ];
  });
}

function refusal(channel: string): string | undefined {
  try {
    checkName(channel, "channel");
    return undefined;
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    return `${error.message}; ${error.remedy ?? ""}`;
  }
}
