import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parseFrames } from "../../../src/agent/message-frame.js";
import { memberFile } from "../../../src/team/records.js";
import { waitUntil } from "../../../src/util/wait.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { close, forget, open, receive } from "./opened-lanes.js";

/** Lets `file` not be read for as long as the result was not called. */
function failReading(file: string, code: string): () => void {
  const read = fs.readFileSync;
  const spy = vi.spyOn(fs, "readFileSync").mockImplementation(((...args: Parameters<typeof read>) => {
    if (args[0] === file) throw Object.assign(new Error(`${code}: no`), { code });
    return read(...args);
  }) as typeof read);
  const restore = () => spy.mockRestore();
  onTestFinished(restore);
  return restore;
}

const interrupt = (team: LivingTeam, text: string) => ({
  kind: "interrupt",
  incarnation: team.member("ada").incarnation,
  text,
});

const cases = [
  ["a member's record", "EMFILE", (team: LivingTeam) => memberFile(team.paths, "user")],
  ["a member's record", "EIO", (team: LivingTeam) => memberFile(team.paths, "user")],
  ["the person's key", "EMFILE", (team: LivingTeam) => path.join(team.made.home, "keys", "user.pem")],
] as const;

describe.each(cases)("while %s cannot be read for the moment (%s)", (what, code, fileOf) => {
  it("mail waits unacknowledged, which is told, and is then what it is", async () => {
    const team = await makeLivingTeam();
    const { id } = await team.post("user", "ada", interrupt(team, "Wake up."));
    await team.post("user", "ada", { text: "hello" });
    if (what === "the person's key") fs.rmSync(memberFile(team.paths, "user"));
    const mend = failReading(fileOf(team), code);
    const { lanes, control, troubles, warnings } = open(team, { againMs: 20 });
    await waitUntil("news of it", () => troubles.length > 0, { timeoutMs: 20_000 });
    expect(troubles[0]).toContain(code);
    expect(warnings()).toEqual(troubles);
    expect(team.counts("ada")).toMatchObject({ done: 0 });
    expect(control).toEqual([]);
    mend();
    const [message] = await receive(lanes, 1);
    expect(control).toMatchObject([{ kind: "interrupt", from: "user", message: { id } }]);
    expect(parseFrames(message?.text ?? "")).toMatchObject([{ from: "user", text: "hello" }]);
    expect(troubles).toHaveLength(2);
    expect(troubles[1]).toBeUndefined();
  });

  it("the end of its reader puts it back", async () => {
    const team = await makeLivingTeam();
    await team.post("user", "ada", interrupt(team, "Wake up."));
    await team.post("user", "ada", { text: "hello" });
    if (what === "the person's key") fs.rmSync(memberFile(team.paths, "user"));
    failReading(fileOf(team), code);
    const { lanes, troubles } = open(team, { againMs: 60_000 });
    await waitUntil("news of it", () => troubles.length > 0, { timeoutMs: 20_000 });
    await close(lanes);
    forget(lanes);
    expect(team.counts("ada")).toEqual({ new: 2, cur: 0, done: 0 });
  });
});
