import { describe, expect, it } from "vitest";
import { parseTeamFile } from "../../../src/team/team-file/load.js";

const members = "name: demo\nteammates:\n  - { name: fixer, command: a }\n  - { name: Codex, command: b }\n";

describe("channels in a team file", () => {
  it("name members in any spelling, the user and the lead", () => {
    const { channels } = parseTeamFile(
      `${members}channels: { review: [FIXER, codex], top: [user, lead] }`,
      "t",
    );
    expect(channels).toEqual({ review: ["FIXER", "codex"], top: ["user", "lead"] });
    expect(parseTeamFile(members, "t").channels).toBeUndefined();
  });

  it.each([
    ["a member that nobody is", "  review: [fixer, fixr2]", '6:19: channel review names "fixr2", who is no'],
    [
      "one that is near",
      "  review:\n    - codx",
      '7:7: channel review names "codx", who is no member; did you mean Codex?',
    ],
    ["nobody", "  review: []", "6:11: channels.review"],
    ["no list", "  review: fixer", "6:11: channels.review"],
    ["a number", "  review: [fixer, 7]", "6:19: channels.review.1"],
    ["a name that is none", '  "#review": [fixer]', '6:3: channel name "#review"'],
    ["a reserved name", "  user: [fixer]", '6:3: channel name "user": it is reserved'],
    ["the same name twice", "  a: [fixer]\n  A: [codex]", "7:3: A and a are the same name"],
  ])("are refused where they name %s", (_, lines, message) => {
    expect(() => parseTeamFile(`${members}channels:\n${lines}\n`, "t")).toThrow(
      expect.objectContaining({
        code: "bad-team-file",
        kind: "usage",
        message: expect.stringContaining(`t:${message}`),
      }),
    );
  });
});
