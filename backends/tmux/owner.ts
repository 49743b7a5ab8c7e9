import { createHash } from "node:crypto";

/** What the panes of a team carry as their owner. `teamId` tells it from every other team on the machine. */
export function ownerOf(teamId: string): string {
  return createHash("sha256").update(teamId).digest("hex").slice(0, 12);
}
