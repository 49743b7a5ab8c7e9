import { expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { makePlace } from "../helpers/place.js";
import { memberIn } from "../helpers/team-state.js";

test.each(["in-process", "tmux"])(
  "a long TROUPE_HOME and team name do not matter to a team in %s",
  async (backend) => {
    const place = await makePlace({ homeName: `${"home-".repeat(20)}/${"deeper-".repeat(10)}` });
    writeGateTeam(place, { name: `${"a-name-as-long-as-nobody-would-type-it-twice-".repeat(2)}x` });
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({
      code: 0,
      stderr: "",
    });
    await memberIn(place, "worker", "working");
    expect(await place.troupe(["send", "idler", "hello", "--wait", "replied"])).toMatchObject({ code: 0 });
    expect(await place.troupe(["spawn", "more", "--", "sleep", "4321"])).toMatchObject({ code: 0 });
    expect(await place.troupe(["down", "--timeout", "0s"])).toMatchObject({ code: 0 });
  },
);
