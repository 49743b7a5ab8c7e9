import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { makePlace } from "../helpers/place.js";
import { stateOf } from "../helpers/team-state.js";
import { openTerminal } from "../helpers/terminal.js";
import { until } from "../helpers/until.js";

test("a program has its caller's environment, not that of an older tmux server, and is known by name", async () => {
  const place = await makePlace();
  place.write("team.yaml", {
    name: "demo",
    teammates: [
      {
        name: "seer",
        command: "env -0 >seen; troupe send user 'I see'; exec sleep 4321",
        env: { OWN: "its own" },
      },
    ],
  });
  const since = {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
    CLAUDE_CONFIG_DIR: "/nowhere",
    AWS_PROFILE: "it's #{pid};",
  };
  // The server around this shell was started without them.
  const terminal = openTerminal(place, { inTmux: true });
  const exports = Object.entries({ ...since, CLAUDECODE: "1" }).map(([name, value]) => `${name}="${value}"`);
  terminal.type(`export ${exports.join(" ")}; troupe up team.yaml -d`);
  expect(await terminal.exitCode()).toBe(0);
  await until(() => stateOf(place).members[0]?.unread === 1, "its mail");

  expect((await place.troupe(["inbox"])).stdout).toMatch(/from seer .*\n.*I see/);
  const seen = environmentIn(path.join(place.project, "seen"));
  expect(seen).toMatchObject({ ...since, OWN: "its own", TROUPE_AGENT_ID: "seer@demo" });
  for (const name of ["TMUX", "TMUX_PANE", "CLAUDECODE"]) expect(seen).not.toHaveProperty(name);
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});

test.each(["in-process", "tmux"])("a program in %s starts, stops and ends nobody", async (backend) => {
  const place = await makePlace();
  const tries = ["spawn more -- true", "stop other", "down"].map((line) => `troupe ${line}; echo "code $?"`);
  place.write("team.yaml", {
    name: "demo",
    teammates: [
      { name: "eager", command: `(${tries.join("; ")}) >tried 2>&1; echo over; exec sleep 4321` },
      { name: "other", command: "exec sleep 4322" },
    ],
  });
  expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });
  await until(async () => (await place.troupe(["logs", "eager"])).stdout.includes("over"), "its tries");
  const tried = fs.readFileSync(path.join(place.project, "tried"), "utf8");
  for (const command of ["spawn", "stop", "down"])
    expect(tried).toMatch(
      new RegExp(`${command} was called by eager: only a person may do that\\n.*\\ncode 1`),
    );
  expect(stateOf(place).members.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "user idle",
    "eager working",
    "other working",
  ]);
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});

/** What `env -0` has written to a file. */
function environmentIn(file: string): Readonly<Record<string, string>> {
  const pairs = fs.readFileSync(file, "utf8").split("\0").slice(0, -1);
  return Object.fromEntries(pairs.map((pair) => /^([^=]*)=(.*)$/s.exec(pair)?.slice(1) ?? []));
}
