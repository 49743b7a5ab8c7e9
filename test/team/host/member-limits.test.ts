import { expect, it } from "vitest";
import { checkMemberSpec } from "../../../src/team/host/start-member.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

const spec = (name: string) => ({ name, command: "true" });

it.each([
  ["user", ["ada", "bob"]],
  ["lead", ["lead", "ada", "bob"]],
] as const)(
  "a team led by %s takes nobody beyond its limit, which one that ended does not count for",
  async (lead, agents) => {
    const team = await makeLivingTeam({ lead, agents });
    const full = await hostContext(team, { limits: { teammates: 2 } });
    expect(() => checkMemberSpec(full, spec("cid"))).toThrow(
      expect.objectContaining({ code: "too-many", kind: "limit", exitCode: 6 }),
    );
    expect(() => checkMemberSpec(full, spec("BOB"))).toThrow(expect.objectContaining({ code: "name-taken" }));
    await full.roster.put({ ...team.member("bob"), state: "ended" });
    checkMemberSpec(full, spec("cid"));
    checkMemberSpec(full, spec("Bob"));
  },
);

it("without a limit of its own there is one all the same", async () => {
  const agents = Array.from({ length: 16 }, (_, index) => `mate${index}`);
  const context = await hostContext(await makeLivingTeam({ agents }));
  expect(() => checkMemberSpec(context, spec("cid"))).toThrow(/16 teammates run already/);
});
