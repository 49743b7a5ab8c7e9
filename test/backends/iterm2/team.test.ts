import fs from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { openMemberExecutor } from "../../../src/team/open-executors.js";
import { readMember, readTeamRecord } from "../../../src/team/records.js";
import { startTeam } from "../../../src/team/start.js";
import { makeHome } from "../../cli/made-team.js";
import { until } from "../../helpers/until.js";
import { emulatorOf } from "../../iterm2-emulator/api-client.js";

it("a team in iTerm2 shows its members in panes, brings one before the person, and leaves nothing behind", async () => {
  const emulator = await emulatorOf();
  const made = makeHome();
  onTestFinished(() => fs.rmSync(made.root, { recursive: true, force: true }));
  const cookies = () => ({ ITERM2_COOKIE: emulator.cookies.issue() });
  const env = { ...emulator.env, PATH: process.env["PATH"] };
  const before = emulator.panes();
  const { host, paths } = await startTeam(
    {
      file: { name: "demo", teammates: [{ name: "tests", command: "sleep 300" }] },
      home: made.home,
      projectRoot: made.project,
      backend: { type: "iterm2", reason: "test" },
      model: "test-model",
      troupe: ["/bin/true"],
    },
    { env: { ...env, ...cookies() }, onEvent: () => {}, signal: new AbortController().signal },
  );
  onTestFinished(async () => {
    await host.down({ timeoutMs: 1_000 });
    await host.closed;
  });
  await host.start();
  const member = await until(() => {
    const found = readMember(paths, "tests");
    return found?.ref?.pane !== undefined && found;
  }, "the pane in the member's record");
  expect(member.ref).toMatchObject({ backend: "iterm2", pane: expect.stringMatching(/^[0-9A-F-]{36}$/) });
  expect(emulator.panes()).toHaveLength(before.length + 1);

  const executor = await openMemberExecutor({ paths, record: readTeamRecord(paths) }, member, {
    ...env,
    ...cookies(),
  });
  await executor.focus?.(member.agentId);
  await executor.close?.();
  expect(emulator.panes().find((pane) => pane.includes(`${member.ref?.pane}`))).toMatch(/shown active$/);

  await host.down({ timeoutMs: 1_000 });
  expect(emulator.panes().map((pane) => pane.split(" ")[2])).toEqual([emulator.session]);
});
