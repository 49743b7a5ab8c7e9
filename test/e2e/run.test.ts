import { expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { makePlace } from "../helpers/place.js";

test("a task in words makes an agent that leads", async () => {
  const place = await makePlace();
  place.write("one.txt", "");
  place.write("two.txt", "");
  const { code, stdout, stderr } = await place.troupe(["run", "what is here?", "--model", "offline"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Files here: 2\./);
  expect(stderr).toMatch(/lead +joined: general-purpose .*offline \(scripted\)/);
});

test("--json gives events, one document a line, and the outcome last", async () => {
  const place = await makePlace();
  const { code, stdout, stderr } = await place.troupe([
    "run",
    "what is here?",
    "--model",
    "offline",
    "--json",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({
    type: "team-started",
    backend: "in-process",
    reason: expect.any(String),
  });
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["member-joined", "member-state", "agent", "member-ended", "team-ended"]),
  );
  expect(events.at(-1)).toMatchObject({
    type: "outcome",
    failed: [],
    text: expect.stringMatching(/Files here/),
  });
});

test("a failed start is a document, too, with --json", async () => {
  const place = await makePlace();
  const { code, stdout, stderr } = await place.troupe(["run", "none.yaml", "--json"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: expect.any(String), message: expect.any(String) },
  });
});

test.each(["in-process", "tmux"])(
  "--timeout ends a team in %s in the middle of work with exit code 6",
  async (backend) => {
    const place = await makePlace();
    writeGateTeam(place);
    const { code, stderr } = await place.troupe([
      "run",
      "team.yaml",
      "--backend",
      backend,
      "--timeout",
      "1s",
    ]);
    expect(code).toBe(6);
    expect(stderr).toMatch(/troupe: the work was not done within 1 s/);
  },
);

test("a member that fails fails the run, and is named", async () => {
  const place = await makePlace();
  place.write("team.yaml", {
    name: "t",
    teammates: [
      { name: "good", command: "true" },
      { name: "bad", command: "echo what is wrong >&2; sleep 0.5; exit 7" },
    ],
  });
  const { code, stderr } = await place.troupe(["run", "team.yaml"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/bad +what is wrong/);
  expect(stderr).toMatch(/bad .*exit code 7/);
  expect(stderr).toMatch(/troupe: failed: bad\n$/);
});
