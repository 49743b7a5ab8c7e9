import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { openEventHub } from "../../../src/team/event-hub.js";
import type { TeamEvent } from "../../../src/team/events.js";
import { createRoster, type Roster } from "../../../src/team/host/roster.js";
import type { MemberState } from "../../../src/team/member-state.js";
import type { TeamPaths } from "../../../src/team/paths.js";
import { type MemberRecord, memberFile, readMember } from "../../../src/team/records.js";
import { makeLivingTeam } from "../living-team.js";

interface MadeRoster {
  readonly roster: Roster;
  readonly paths: TeamPaths;
  readonly events: TeamEvent[];
  readonly ada: MemberRecord;
}

/** A roster with one member that is just starting. */
async function made(): Promise<MadeRoster> {
  const team = await makeLivingTeam();
  const hub = openEventHub(team.paths.events);
  const events: TeamEvent[] = [];
  hub.listen((event) => events.push(event));
  const roster = createRoster(team.paths, hub);
  const { reason: _, ...record } = team.member("ada");
  const ada: MemberRecord = { ...record, incarnation: "one", state: "starting" };
  await roster.put(ada);
  return { roster, paths: team.paths, events, ada };
}

const since = "2026-01-01T00:00:00.000Z";
const working: MemberState = { state: "working", since };
const idle: MemberState = { state: "idle", reason: "done", since };

describe("put", () => {
  it("is on disk when it resolves, and found by any spelling", async () => {
    const { roster, paths, ada } = await made();
    expect(readMember(paths, "ada")).toEqual(ada);
    expect(roster.find("ADA")).toEqual(ada);
    expect(roster.find("nobody")).toBeUndefined();
    expect(roster.all()).toEqual([ada]);
  });

  it("rejects and changes nothing where the record cannot be written", async () => {
    const { roster, paths, ada } = await made();
    const before = roster.version;
    fs.rmSync(paths.members, { recursive: true });
    await expect(roster.put({ ...ada, incarnation: "two" })).rejects.toMatchObject({ code: "ENOENT" });
    expect(roster.find("ada")?.incarnation).toBe("one");
    expect(roster.version).toBe(before);
  });

  it("is not undone on disk by a late change of the incarnation before", async () => {
    const { roster, paths, ada } = await made();
    const putting = roster.put({ ...ada, incarnation: "two" });
    // Large, so that writing it takes longer.
    roster.update("ada", "one", { activity: "x".repeat(20_000_000) });
    await putting;
    await roster.flush();
    expect(readMember(paths, "ada")).toMatchObject({ incarnation: "two" });
    expect(roster.find("ada")).toEqual({ ...ada, incarnation: "two" });
  });
});

describe("setState", () => {
  it("replaces state, reason, detail and activity, and tells what a viewer would see", async () => {
    const { roster, paths, events } = await made();
    expect(roster.setState("ada", "one", working, "reading")).toBe(true);
    expect(roster.setState("ada", "one", working, "writing")).toBe(true);
    expect(roster.find("ada")).toMatchObject({ state: "working", activity: "writing", since });
    expect(roster.setState("ada", "one", { ...idle, detail: "because" })).toBe(true);
    expect(roster.find("ada")).not.toHaveProperty("activity");
    expect(roster.setState("ada", "one", idle)).toBe(true);
    expect(roster.find("ada")).not.toHaveProperty("detail");
    await roster.flush();
    expect(readMember(paths, "ada")).toEqual(roster.find("ada"));
    expect(events).toMatchObject([
      { type: "member-state", name: "ada", state: "working" },
      { type: "member-state", name: "ada", state: "idle", reason: "done", detail: "because" },
    ]);
  });

  it("refuses late reports: of another incarnation, of nobody, of one that is ending or has ended", async () => {
    const { roster, events } = await made();
    const { version } = roster;
    expect(roster.setState("ada", "zero", working)).toBe(false);
    expect(roster.setState("bob", "one", working)).toBe(false);
    expect(roster.version).toBe(version);
    roster.setState("ada", "one", { state: "stopping", since });
    expect(roster.setState("ada", "one", working)).toBe(false);
    roster.setState("ada", "one", { state: "ended", reason: "completed", since });
    expect(roster.setState("ada", "one", { state: "ended", reason: "lost", since })).toBe(false);
    expect(roster.find("ada")).toMatchObject({ state: "ended", reason: "completed" });
    expect(events.map((event) => "state" in event && event.state)).toEqual(["stopping", "ended"]);
  });
});

describe("update", () => {
  it("changes fields of the one incarnation it is about", async () => {
    const { roster, paths } = await made();
    roster.update("ada", "zero", { context: 1 });
    roster.update("Ada", "one", { context: 2 });
    await roster.flush();
    expect(readMember(paths, "ada")).toMatchObject({ context: 2 });
  });
});

describe("the records on disk", () => {
  it("end as the last change left them, however many there were and whenever they came", async () => {
    const { roster, paths } = await made();
    for (let i = 0; i < 300; i++) {
      roster.update("ada", "one", { context: i });
      // As many microtasks as a write's end may be spread over.
      for (let pause = i % 7; pause > 0; pause--) await Promise.resolve();
      if (i % 50 === 0) await roster.flush();
    }
    await roster.flush();
    expect(readMember(paths, "ada")?.context).toBe(299);
    expect(fs.readdirSync(paths.members).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("are told where they cannot be written, and written when they can be again", async () => {
    const { roster, paths, events } = await made();
    const file = memberFile(paths, "ada");
    fs.rmSync(file);
    fs.mkdirSync(`${file}/in the way`, { recursive: true });
    roster.update("ada", "one", { context: 1 });
    // Comes while the first write is failing.
    roster.update("ada", "one", { context: 2 });
    await roster.flush();
    expect(events.length).toBeGreaterThan(0);
    for (const event of events)
      expect(event).toMatchObject({
        type: "notice",
        level: "warning",
        text: expect.stringMatching(/^a member's record cannot be written: /),
      });
    expect(fs.readdirSync(paths.members).filter((name) => name.startsWith("."))).toEqual([]);
    fs.rmSync(file, { recursive: true });
    roster.update("ada", "one", { activity: "back" });
    await roster.flush();
    expect(readMember(paths, "ada")).toMatchObject({ context: 2, activity: "back" });
  });

  it("count changes, so that equal versions mean that nothing happened", async () => {
    const { roster } = await made();
    const seen = [roster.version];
    roster.update("ada", "one", { context: 1 });
    seen.push(roster.version);
    roster.setState("ada", "one", working);
    seen.push(roster.version);
    expect(new Set(seen).size).toBe(3);
    await roster.flush();
    expect(roster.version).toBe(seen[2]);
  });
});
