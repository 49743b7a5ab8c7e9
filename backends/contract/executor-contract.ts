import type { ContractCase, ContractTools, ExecutorHarness } from "./harness.js";
import { lives } from "./lives.js";
import { programs } from "./programs.js";
import { starts } from "./starts.js";
import { trees } from "./trees.js";
import { runTrial } from "./trial.js";

/**
 * The promises that every executor keeps, as cases for any test runner: each is run by itself, in any order. `makeHarness`
 * is called for each of them. Cases about `adopt`, `capture` and `focus` pass where an executor does not offer those. Without
 * `hasProcesses` (default true) those are left out that are about processes of this machine: for a double in memory.
 */
export function executorContract(
  makeHarness: (tools: ContractTools) => ExecutorHarness | Promise<ExecutorHarness>,
  { hasProcesses = true }: { readonly hasProcesses?: boolean } = {},
): readonly ContractCase[] {
  const checks = { ...lives, ...starts, ...(hasProcesses ? { ...programs, ...trees } : {}) };
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: () => runTrial(makeHarness, check),
  }));
}
