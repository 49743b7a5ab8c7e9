import { nameKey } from "../util/name-key.js";
import type { TeamRecord } from "./records.js";

/** A group of members that the team file names. */
export interface Channel {
  /** `#` and the name as the team file spells it. */
  readonly address: string;
  /** Each once; `lead` is the user where the user leads. */
  readonly members: readonly string[];
}

/** Whether an address is meant for a channel. */
export function isChannel(address: string): boolean {
  return address.startsWith("#");
}

/** The channel that an address means, or undefined where the team has none of that name. */
export function channelAt(record: TeamRecord, address: string): Channel | undefined {
  return channelsOf(record).find((channel) => nameKey(channel.address) === nameKey(address));
}

export function channelsOf({ channels = {}, lead }: TeamRecord): Channel[] {
  return Object.entries(channels).map(([name, names]) => {
    const members = new Map<string, string>();
    for (const member of names) {
      const meant = nameKey(member) === "lead" ? lead : member;
      members.set(nameKey(meant), members.get(nameKey(meant)) ?? meant);
    }
    return { address: `#${name}`, members: [...members.values()] };
  });
}

/** Whether what is addressed to a channel is meant for this member, too. */
export function isInChannel(record: TeamRecord, address: string, member: string): boolean {
  const members = channelAt(record, address)?.members ?? [];
  return members.some((name) => nameKey(name) === nameKey(member));
}
