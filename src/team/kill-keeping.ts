import type { TreeMember } from "../../backends/process-tree.js";
import type { KillReport, TeammateExecutor } from "../../backends/types.js";
import { TroupeError } from "../util/errors.js";
import { liveness } from "../util/process-identity.js";

/**
 * Ends a teammate but for the processes in `keep`. Whichever of those is gone in the end is told as lost, also where it was
 * gone before. Throws TroupeError `keep-unsupported` where there are some and its backend cannot tell them apart: nothing is
 * ended then.
 */
export async function killKeeping(
  executor: TeammateExecutor,
  agentId: string,
  keep: readonly TreeMember[],
): Promise<KillReport> {
  if (keep.length === 0) return executor.kill(agentId);
  const killExcept = checkKeeps(executor);
  const report = await killExcept(
    agentId,
    keep.map(({ identity }) => identity),
  );
  const gone = keep.filter(({ identity }) => liveness(identity) === "gone");
  const lost = Array.from(new Map(gone.map(({ pid, command }) => [pid, { pid, command }])).values());
  return lost.length === 0 ? report : { ...report, lost };
}

/** How a backend ends a part of a teammate. Throws TroupeError `keep-unsupported` for one that ends all or nothing. */
export function checkKeeps(executor: TeammateExecutor): NonNullable<TeammateExecutor["killExcept"]> {
  const { type, killExcept } = executor;
  if (killExcept === undefined)
    throw new TroupeError("keep-unsupported", `the backend ${type} cannot keep a part of what it ends`, {
      kind: "unavailable",
    });
  return killExcept.bind(executor);
}
