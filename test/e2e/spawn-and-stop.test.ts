import { describe, expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import { memberIn } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

const commandsOf = (place: Place) => processesOf(place.home).map(({ command }) => command);

describe.each(["in-process", "tmux"])("a team in %s", (backend) => {
  test("takes new teammates, stops one, and ends whole", async () => {
    const place = await makePlace();
    writeGateTeam(place);
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });

    const agent = await place.troupe(["spawn", "late", "--agent", "Explore", "look around"]);
    expect(agent).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^late runs \(/) });
    const command = await place.troupe(["spawn", "ticker", "--", "sh", "-c", "echo tick; exec sleep 4321"]);
    expect(command).toMatchObject({ code: 0, stderr: "" });
    await memberIn(place, "late", "idle");
    const status = await place.troupe(["status"]);
    expect(status.stdout).toMatch(/^gate {2}running {2}/);
    for (const name of ["worker", "idler", "late", "ticker"])
      expect(status.stdout).toMatch(new RegExp(`^${name} `, "m"));
    await until(
      async () => (await place.troupe(["logs", "ticker"])).stdout.includes("tick"),
      "ticker's output",
    );

    const taken = await place.troupe(["spawn", "Ticker", "--", "true"]);
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringMatching(/ticker is a member already/) });

    const stopped = await place.troupe(["stop", "ticker"]);
    expect(stopped).toMatchObject({ code: 0, stdout: expect.stringMatching(/ticker .*TERM/) });
    expect(commandsOf(place).join("\n")).not.toContain("sleep 4321");
    expect(await memberIn(place, "ticker", "ended")).toMatchObject({ reason: "killed" });
    expect(await place.troupe(["stop", "late"])).toMatchObject({
      code: 0,
      stdout: "late ended when asked\n",
    });
    expect(await place.troupe(["stop", "late"])).toMatchObject({
      code: 0,
      stdout: "late had ended before\n",
    });

    // The worker is in the middle of a call that will not end: it is given no time.
    const down = await place.troupe(["down", "--timeout", "0s"]);
    expect(down).toMatchObject({ code: 0, stdout: expect.stringMatching(/worker/) });
    await until(
      () => commandsOf(place).length === 0,
      "nothing runs",
      () => commandsOf(place).join("\n"),
    );
    expect((await place.troupe(["status"])).stdout).toMatch(/^gate {2}ended/);
    const again = await place.troupe(["down"]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/worker had ended before/) });

    // A start right after down finds the way free; two who end the team at once both succeed.
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });
    const [one, other] = await Promise.all([
      place.troupe(["down", "--timeout", "0s"]),
      place.troupe(["down", "--timeout", "0s"]),
    ]);
    expect([one.code, other.code]).toEqual([0, 0]);
  });

  test("ends a program that ignores TERM, and what it has put out of sight", async () => {
    const place = await makePlace();
    const deaf =
      "trap '' TERM; setsid sleep 4321.1 & nohup sleep 4321.2 >/dev/null 2>&1 & while :; do sleep 1; done";
    place.write("team.yaml", {
      name: "deaf",
      teammates: [
        { name: "stubborn", command: deaf },
        { name: "meek", command: "exec sleep 4321.3" },
      ],
    });
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });
    await until(() => /4321\.1[\s\S]*4321\.2/.test(commandsOf(place).sort().join("\n")), "its children");

    const stop = await place.troupe(["stop", "stubborn"]);
    expect(stop).toMatchObject({ code: 0, stdout: expect.stringMatching(/stubborn/) });
    expect(stop.stdout).toContain("sleep 4321.1");
    expect(stop.stdout).toContain("sleep 4321.2");
    expect(commandsOf(place).join("\n")).not.toMatch(/4321\.[12]/);
    expect(commandsOf(place).join("\n")).toContain("sleep 4321.3");
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });
});
