import { describe, expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { makePlace } from "../helpers/place.js";
import { memberDoes, memberIn } from "../helpers/team-state.js";

describe.each(["in-process", "tmux"])("mail to a team in %s, from other processes", (backend) => {
  test("reaches a teammate that works, and one that idles; the answer comes back", async () => {
    const place = await makePlace();
    const gate = writeGateTeam(place);
    const up = await place.troupe(["up", "team.yaml", "-d", "--backend", backend]);
    expect(up).toMatchObject({ code: 0, stderr: "" });
    expect(up.stdout).toContain(`team gate runs ${backend}: asked for`);
    await memberDoes(place, "worker", /^Bash/);
    await memberIn(place, "idler", "idle");

    // To one that idles: it is woken, and what it says is the reply.
    const asked = await place.troupe(["send", "idler", "are you there?", "--wait", "replied"]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toMatch(/from idler[\s\S]*idler read the mail from user\./);

    // To one that works: stored at once, not seen before it looks up.
    const stored = await place.troupe(["send", "worker", "first"]);
    expect(stored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^stored for worker #/) });
    const early = await place.troupe(["send", "worker", "second", "--wait", "seen", "--timeout", "1s"]);
    expect(early).toMatchObject({ code: 3, stdout: expect.stringMatching(/not seen in time/) });
    const seen = place.start(["send", "worker", "third", "--wait", "seen", "--timeout", "60s"]);
    gate.open();
    expect(await seen.finished).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^seen for worker #/),
    });
    await memberIn(place, "worker", "idle");

    const inbox = await place.troupe(["inbox"]);
    expect(inbox.stdout).toMatch(/from idler/);
    expect(inbox.stdout).toMatch(/from worker[\s\S]*Passed the gate\./);
    expect(await place.troupe(["inbox"])).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/no new mail/),
    });

    const logs = await place.troupe(["logs", "worker"]);
    expect(logs.stdout).toMatch(/I wait at the gate\.[\s\S]*first[\s\S]*second[\s\S]*Passed the gate\./);

    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
    expect(await place.troupe(["send", "idler", "late", "--require-running"])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/idler has ended/),
    });
    expect(await place.troupe(["send", "idler", "late"])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/idler has ended/),
    });
  });
});
