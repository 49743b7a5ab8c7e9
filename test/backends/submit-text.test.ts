import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ContractCase, submitTextContract } from "../../backends/contract/index.js";
import { typedPrograms } from "../../backends/contract/typed-programs.js";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { createTmuxExecutor, type TmuxExecutorOptions } from "../../backends/tmux/executor.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { startTmux, tmuxProgram } from "../helpers/tmux.js";
import { until } from "../helpers/until.js";

const graceMs = 400;
const deliver = async () => undefined;

const tmuxExecutor = (dir: string, place: TmuxExecutorOptions["place"]) =>
  createTmuxExecutor({
    place,
    team: "team",
    teamId: dir,
    env: process.env,
    deliver,
    lockDir: path.join(dir, "lock"),
    tmux: tmuxProgram,
    graceMs,
  });

register(
  "in-process, pseudo-terminals",
  submitTextContract(() => ({
    executor: createInProcessExecutor({ run: async () => undefined, deliver, graceMs }),
  })),
);

register(
  "tmux, inside",
  submitTextContract(({ dir }) => {
    const tmux = startTmux();
    const executor = tmuxExecutor(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    return { executor, dispose: () => tmux.stop() };
  }),
);

function register(name: string, cases: readonly ContractCase[]): void {
  describe(`typing to a program: ${name}`, () => {
    // Whole programs, on a machine that may be busy with others.
    for (const { name, run } of cases) it(name, { timeout: 120_000 }, run);
  });
}

it("a program on pipes has no terminal to type to", async () => {
  const dir = temporaryDirectory();
  const executor = createInProcessExecutor({ run: async () => undefined, deliver, graceMs });
  onTestFinished(async () => void (await executor.kill("scout@team")));
  expect(await executor.spawn(teammateConfig(dir, "scout", ["sleep", "300"]))).toMatchObject({ ok: true });
  await expect(executor.submitText?.("scout@team", "x")).rejects.toMatchObject({ code: "no-terminal" });
});

it("without a screen nothing can be proven to a program that repaints all the time, and nothing is typed twice", async () => {
  const dir = temporaryDirectory();
  const file = path.join(dir, "taken");
  const executor = createInProcessExecutor({ run: async () => undefined, deliver, graceMs });
  onTestFinished(async () => void (await executor.kill("scout@team")));
  const launch = { kind: "argv", argv: typedPrograms.restless(file), terminal: true } as const;
  expect(await executor.spawn(teammateConfig(dir, "scout", launch.argv, { launch }))).toMatchObject({
    ok: true,
  });
  await until(async () => /ready/.test((await executor.capture?.("scout@team", 20)) ?? ""), "it is ready");
  expect(await executor.submitText?.("scout@team", "once")).toMatchObject({
    outcome: "unknown",
    reason: expect.stringMatching(/changes all the time/),
  });
  await until(() => fs.existsSync(file), "the text");
  expect(fs.readFileSync(file, "utf8")).toBe(`${Buffer.from("once").toString("hex")}\n`);
});
