import type { ContractCase, ContractTools, ExecutorHarness } from "./harness.js";
import { lives } from "./lives.js";
import { programs } from "./programs.js";
import { starts } from "./starts.js";
import { trees } from "./trees.js";
import { type Checks, runTrial } from "./trial.js";
import { typing } from "./typing.js";

/**
 * The promises that every executor keeps, as cases for any test runner: each is run by itself, in any order. `makeHarness`
 * is called for each of them. Cases about `adopt`, `capture`, `focus` and `killExcept` pass where an executor does not offer
 * those. Without `hasProcesses` (default true) those are left out that are about processes of this machine: for a double
 * in memory.
 */
export function executorContract(
  makeHarness: MakeHarness,
  { hasProcesses = true }: { readonly hasProcesses?: boolean } = {},
): readonly ContractCase[] {
  return casesOf(makeHarness, { ...lives, ...starts, ...(hasProcesses ? { ...programs, ...trees } : {}) });
}

/**
 * The promises of `submitText` and of `capture`, for an executor that offers both: cases as of {@link executorContract}. They
 * take longer, and type to `bash` and `python3`, too.
 */
export function submitTextContract(makeHarness: MakeHarness): readonly ContractCase[] {
  return casesOf(makeHarness, typing);
}

type MakeHarness = (tools: ContractTools) => ExecutorHarness | Promise<ExecutorHarness>;

function casesOf(makeHarness: MakeHarness, checks: Checks): ContractCase[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: () => runTrial(makeHarness, check),
  }));
}
