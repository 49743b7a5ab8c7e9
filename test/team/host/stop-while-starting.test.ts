import { expect, it } from "vitest";
import { endMember } from "../../../src/team/host/end-member.js";
import { startMember } from "../../../src/team/host/start-member.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

it("a member that is ended before its program was started does not start any more", async () => {
  const context = await hostContext(await makeLivingTeam());
  const starting = startMember(context, { name: "cid", command: ["stay"] });
  const refused = expect(starting).rejects.toMatchObject({ code: "spawn-failed" });
  await endMember(context, context.roster.find("cid")!);
  await refused;
  expect(await context.executors.members.isActive("cid@team")).toBe("gone");
  expect(context.roster.find("cid")).toMatchObject({ state: "ended", reason: "killed" });
  expect(context.events.map(({ type }) => type)).toContain("member-ended");
});
