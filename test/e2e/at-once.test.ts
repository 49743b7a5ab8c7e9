import { expect, test } from "vitest";
import { makePlace } from "../helpers/place.js";
import { stateOf } from "../helpers/team-state.js";

const names = ["ada", "bob", "cid"];

test.each(["in-process", "tmux"])(
  "commands at once in %s: everybody joins, a name joins once, and who is stopped ends",
  async (backend) => {
    const place = await makePlace();
    place.write("team.yaml", { name: "demo", teammates: [{ name: "first", command: "exec sleep 4321" }] });
    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });

    const spawned = await Promise.all(
      [...names, "Ada"].map((name) => place.troupe(["spawn", name, "--", "sleep", "4322"])),
    );
    expect(spawned.slice(1, -1).map(({ code }) => code)).toEqual([0, 0]);
    expect([spawned[0], spawned.at(-1)].map((run) => run?.code).sort()).toEqual([0, 2]);
    expect(
      stateOf(place)
        .members.map(({ name }) => name.toLowerCase())
        .sort(),
    ).toEqual([...names, "first", "user"].sort());

    const stopped = await Promise.all(names.slice(1).map((name) => place.troupe(["stop", name])));
    expect(stopped.map(({ code }) => code)).toEqual([0, 0]);
    const running = stateOf(place).members.filter(({ state }) => state === "working");
    expect(running.map(({ name }) => name.toLowerCase())).toEqual(["first", "ada"]);
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  },
);
