import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inboxOf, received } from "../../src/team/inbox.js";
import { readTeamRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { type MadeHome, makeHome, makeTeam } from "../cli/made-team.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

describe("inboxOf", () => {
  it("is the reader's own without a name, and by its own name", async () => {
    const paths = await makeTeam(made, { members: [{ name: "Scout" }] });
    const team = { paths, record: readTeamRecord(paths) };
    const own = { owner: "user", own: true, dir: mailboxOf(paths, "user") };
    expect(inboxOf(team, { name: "user" })).toEqual(own);
    expect(inboxOf(team, { name: "user" }, "user")).toEqual(own);
    expect(inboxOf(team, { name: "user" }, "lead")).toEqual(own);
    expect(inboxOf(team, { name: "scout", team: "demo" })).toMatchObject({ owner: "Scout", own: true });
  });

  it("is another's by any other name, also for a namesake of another team", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }] });
    const team = { paths, record: readTeamRecord(paths) };
    expect(inboxOf(team, { name: "user" }, "scout")).toMatchObject({ own: false });
    expect(inboxOf(team, { name: "scout", team: "demo" }, "user")).toMatchObject({ own: false });
    expect(inboxOf(team, { name: "scout", team: "other" }, "scout")).toMatchObject({ own: false });
    expect(() => inboxOf(team, { name: "user" }, "scuot")).toThrow(
      expect.objectContaining({ code: "no-member" }),
    );
  });
});

describe("received", () => {
  it("says who it is from, and lets no field of the message say so", async () => {
    const paths = await makeTeam(made);
    const message = {
      v: 1,
      id: "0123abcd",
      from: "user",
      to: "user",
      sentAt: "2026-01-01T00:00:00Z",
      kind: "text",
      text: "x",
      sender: "host",
    } as const;
    const team = { paths, record: readTeamRecord(paths) };
    expect(received(message, team, "user").sender).toBe("external:user");
  });
});
