import { describe, expect, it } from "vitest";
import { channelAt, channelsOf, isInChannel } from "../../src/team/channels.js";
import type { TeamRecord } from "../../src/team/records.js";

function record(channels: TeamRecord["channels"], lead: TeamRecord["lead"] = "user"): TeamRecord {
  return {
    v: 1,
    name: "demo",
    projectRoot: "/",
    lead,
    backend: { type: "in-process", reason: "a test" },
    ...(channels === undefined ? {} : { channels }),
    createdAt: "2026-01-01T00:00:00Z",
  };
}

describe("a channel", () => {
  it("is found by its name in any spelling, and told as the team file spells it", () => {
    const team = record({ Straße: ["Ada", "bob"] });
    expect(channelAt(team, "#STRASSE")).toEqual({ address: "#Straße", members: ["Ada", "bob"] });
    for (const address of ["#strass", "Straße", "#", "##Straße", "#toString", "#__proto__"])
      expect(channelAt(team, address)).toBeUndefined();
  });

  it("holds each member once; lead is whoever leads", () => {
    const channels = { all: ["ada", "LEAD", "user", "Ada"] };
    expect(channelsOf(record(channels))[0]?.members).toEqual(["ada", "user"]);
    expect(channelsOf(record(channels, "lead"))[0]?.members).toEqual(["ada", "lead", "user"]);
  });

  it("is nobody's in a team without channels, and nobody's but its members'", () => {
    expect(channelsOf(record(undefined))).toEqual([]);
    const team = record({ review: ["ada", "lead"] });
    expect(["ADA", "user", "bob", "lead", ""].filter((name) => isInChannel(team, "#Review", name))).toEqual([
      "ADA",
      "user",
    ]);
    expect(isInChannel(team, "#other", "ada")).toBe(false);
  });
});
