import { describe, expect, test } from "vitest";
import { liveness } from "../../src/util/process-identity.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace } from "../helpers/place.js";
import { memberIn } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

describe.each(["in-process", "tmux"])("--keep in %s", (backend) => {
  test("leaves a server that a teammate started, at stop, down and clean, and a new start is free", async () => {
    const place = await makePlace();
    const server = "sleep 4321.1 & wait";
    place.write("team.yaml", {
      name: "demo",
      teammates: [
        { name: "one", command: `setsid sh -c '${server}' & sleep 4321.4 & exec sleep 4321.2` },
        { name: "two", command: `nohup sh -c '${server}' >/dev/null 2>&1 & exec sleep 4321.3` },
      ],
    });
    const up = () => place.troupe(["up", "team.yaml", "-d", "--backend", backend]);
    const found = (command: string) => processesOf(place.home).filter((one) => one.command === command);
    expect(await up()).toMatchObject({ code: 0 });
    await until(() => found(`sh -c ${server}`).length === 2 && found("sleep 4321.1").length === 2, "both");
    const servers = found(`sh -c ${server}`).map(({ identity }) => identity);
    const pids = servers.map(({ pid }) => String(pid));

    const wrong = await place.troupe(["stop", "one", "--keep", String(process.pid)]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/process \d+ is none of one's/) });
    await memberIn(place, "one", "working");

    const [exposed] = found("sleep 4321.4");
    if (backend === "tmux")
      expect(await place.troupe(["stop", "one", "--keep", String(exposed?.identity.pid)])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/cannot be kept: .* its terminal[\s\S]*setsid or nohup/),
      });
    await memberIn(place, "one", "working");

    const mine = / (\d+) \(sh -c sleep 4321\.1/.exec(wrong.stderr)?.[1] ?? "";
    expect(pids).toContain(mine);
    const stop = await place.troupe(["stop", "one", "--keep", mine]);
    expect(stop).toMatchObject({ code: 0, stdout: expect.stringMatching(/kept 2 processes:\n +\d+ /) });
    const other = pids.find((pid) => pid !== mine) ?? "";
    const down = await place.json(["down", "--keep", other]);
    expect(down.members[1].report).toMatchObject({ survivors: [], kept: { length: 2 } });
    expect(await place.troupe(["clean"])).toMatchObject({
      code: 0,
      stdout: expect.not.stringMatching(/process/),
    });
    expect(await up()).toMatchObject({ code: 0 });
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
    expect(servers.map((one) => liveness(one))).toEqual(["alive", "alive"]);
    for (const { pid } of [...servers, ...found("sleep 4321.1").map(({ identity }) => identity)])
      process.kill(pid, "SIGKILL");
  });
});
