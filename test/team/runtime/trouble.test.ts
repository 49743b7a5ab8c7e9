import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createMailbox } from "../../../mailbox/index.js";
import { mailboxOf } from "../../../src/team/send.js";
import { waitUntil } from "../../../src/util/wait.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { open, receive } from "./opened-lanes.js";
import { model, run, specOf } from "./running-teammate.js";

const newOf = (team: LivingTeam) => path.join(mailboxOf(team.paths, "ada"), "new");

/** Puts a file in the place of the directory that new mail comes to. */
function damage(team: LivingTeam): void {
  fs.renameSync(newOf(team), `${newOf(team)}-away`);
  fs.writeFileSync(newOf(team), "");
}

function mend(team: LivingTeam): void {
  fs.rmSync(newOf(team));
  fs.renameSync(`${newOf(team)}-away`, newOf(team));
}

describe("trouble with a mailbox", () => {
  it("that cannot be read is told, and its end; the mail comes then", async () => {
    const team = await makeLivingTeam();
    const { lanes, troubles, warnings } = open(team, { sweepMs: 50 });
    damage(team);
    await waitUntil("news of it", () => troubles.length > 0, { timeoutMs: 10_000 });
    expect(troubles[0]).toContain(mailboxOf(team.paths, "ada"));
    expect(warnings()).toEqual(troubles);
    mend(team);
    await team.post("bob", "ada", { text: "after" });
    await receive(lanes, 1);
    expect(troubles.at(-1)).toBeUndefined();
  });

  it("that was replaced is told, and mail to the new one comes", async () => {
    const team = await makeLivingTeam();
    const { lanes, troubles } = open(team, { sweepMs: 50 });
    await team.post("bob", "ada", { text: "before" });
    const [before] = await receive(lanes, 1);
    fs.renameSync(mailboxOf(team.paths, "ada"), `${mailboxOf(team.paths, "ada")}-away`);
    await createMailbox(mailboxOf(team.paths, "ada"));
    await waitUntil("news of it", () => troubles.length > 0, { timeoutMs: 10_000 });
    expect(troubles.join("\n")).toMatch(/replaced|removed|no mailbox/);
    await lanes.answered([before?.id ?? ""]);
    await team.post("bob", "ada", { text: "after" });
    expect((await receive(lanes, 1))[0]?.text).toContain("after");
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 0 });
  });

  it("is in the teammate's state, beside what it does, until mail comes again", async () => {
    const team = await makeLivingTeam();
    const ada = run(team, await model([{ text: "Here." }]), specOf(team, "ada"));
    await ada.ready();
    damage(team);
    const troubled = await waitUntil(
      "news of it",
      () => ada.states.find(({ detail }) => detail !== undefined),
      {
        timeoutMs: 20_000,
      },
    );
    expect(troubled).toMatchObject({
      state: "idle",
      reason: "done",
      detail: expect.stringContaining("mail"),
    });
    expect(ada.events).toContainEqual(
      expect.objectContaining({ type: "notice", level: "warning", name: "ada", text: troubled.detail }),
    );
    mend(team);
    await team.post("user", "ada", { text: "Still there?" });
    expect(await ada.idle()).not.toHaveProperty("detail");
  });
});
