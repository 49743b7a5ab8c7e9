import { describe, it } from "vitest";
import { type ContractCase, executorContract, submitTextContract } from "../../../backends/contract/index.js";
import { createIterm2Executor } from "../../../backends/iterm2/executor.js";
import type { DeliverMessage } from "../../../backends/types.js";
import { startIterm2Emulator } from "../../iterm2-emulator/emulator.js";
import { optionsFor } from "./support.js";

async function makeHarness({ dir, deliver }: { readonly dir: string; readonly deliver: DeliverMessage }) {
  const emulator = await startIterm2Emulator();
  const successor = () => createIterm2Executor(optionsFor(emulator, dir, { deliver }));
  return { executor: successor(), successor, places: emulator.panes, dispose: emulator.stop };
}

register("executor contract: iTerm2, by its API", executorContract(makeHarness));
// They wait more than they compute.
register("typing to a program: iTerm2, by its API", submitTextContract(makeHarness), { concurrent: true });

function register(name: string, cases: readonly ContractCase[], options = {}): void {
  describe(name, options, () => {
    for (const { name, run } of cases) it(name, { timeout: 120_000 }, run);
  });
}
