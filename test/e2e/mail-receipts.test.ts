import { describe, expect, test, vi } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { makePlace } from "../helpers/place.js";
import { memberDoes, memberIn } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

/** A program that reads its mail once it may, and answers each message by name. */
const reader = `until [ -e read ]; do sleep 0.1; done
troupe inbox --follow --json | while read -r line; do
  id=$(printf '%s\\n' "$line" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
  troupe send lead "the program has read it" --reply-to "$id"
done`;

// Many commands one after another, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 });

describe.each(["in-process", "tmux"])("a receipt in %s", (backend) => {
  test("of an agent says what is true: stored, delivered, seen, replied, each when it is", async () => {
    const place = await makePlace();
    const gate = writeGateTeam(place);
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });
    await memberDoes(place, "worker", /^Bash/);
    await memberIn(place, "idler", "idle");

    for (const receipt of ["stored", "delivered", "seen"])
      expect(await place.troupe(["send", "idler", receipt, "--wait", receipt])).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^(stored|delivered|seen) for idler #/),
      });
    const replied = await place.troupe(["send", "idler", "and?", "--wait", "replied"]);
    expect(replied).toMatchObject({ code: 0, stdout: expect.stringMatching(/from idler/) });

    // One in a call has taken it, and its model has not seen it.
    const line = ["send", "worker", "first", "--id", "0123abcd", "--wait"];
    const delivered = await place.troupe([...line, "delivered", "--timeout", "60s"]);
    expect(delivered).toMatchObject({ code: 0, stdout: expect.stringMatching(/^delivered for worker #/) });
    for (const receipt of ["seen", "replied"])
      expect(await place.troupe([...line, receipt, "--timeout", "200ms"])).toMatchObject({
        code: 3,
        stdout: expect.stringMatching(new RegExp(`^delivered before for worker, not ${receipt} in time`)),
      });
    const waiting = place.start(["send", "worker", "last", "--wait", "replied", "--timeout", "60s"]);
    await memberDoes(place, "worker", /^Bash/);
    gate.open();
    expect(await waiting.finished).toMatchObject({ code: 0, stdout: expect.stringMatching(/from worker/) });
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });
});

// What these two read and write does not depend on the backend: each is shown in one.
describe("a receipt", () => {
  test("of a program says when it has read and answered", async () => {
    const place = await makePlace();
    place.write("team.yaml", { name: "programs", teammates: [{ name: "program", command: reader }] });
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", "tmux"])).toMatchObject({ code: 0 });
    for (const receipt of ["delivered", "replied"])
      expect(
        await place.troupe(["send", "program", receipt, "--wait", receipt, "--timeout", "200ms"]),
      ).toMatchObject({
        code: 3,
        stdout: expect.stringMatching(new RegExp(`^stored for program, not ${receipt} in time`)),
      });
    place.write("read", "");
    const seen = await place.troupe(["send", "program", "now", "--wait", "seen", "--timeout", "60s"]);
    expect(seen).toMatchObject({ code: 0, stdout: expect.stringMatching(/^seen for program #/) });
    const replied = await place.troupe(["send", "program", "and?", "--wait", "replied", "--timeout", "60s"]);
    expect(replied.code).toBe(0);
    expect(replied.stdout).toMatch(/from program[\s\S]*the program has read it/);
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });

  test("of one that has ended says that it is stored, and it is there for the next of its name", async () => {
    const place = await makePlace();
    writeGateTeam(place, {
      teammates: ["idler", "other"].map((name) => ({ name, agent: "general-purpose" })),
    });
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", "in-process"])).toMatchObject({
      code: 0,
    });
    expect(await place.troupe(["stop", "idler"])).toMatchObject({ code: 0 });
    expect(await place.troupe(["send", "idler", "refused", "--require-running"])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/idler has ended/),
    });
    expect(
      await place.troupe(["send", "idler", "kept", "--wait", "delivered", "--timeout", "200ms"]),
    ).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^stored for idler, not delivered in time/),
      stderr: expect.stringMatching(/idler has ended/),
    });
    expect((await memberIn(place, "idler", "ended")).unread).toBe(1);

    expect(await place.troupe(["spawn", "idler", "--agent", "general-purpose"])).toMatchObject({ code: 0 });
    const logs = await until(async () => {
      const { stdout } = await place.troupe(["logs", "idler"]);
      return stdout.includes("idler read the mail") && stdout;
    }, "its answer");
    expect(logs).toContain("kept");
    expect(logs).not.toContain("refused");
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });
});
