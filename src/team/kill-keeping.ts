import type { KillReport, TeammateExecutor } from "../../backends/types.js";
import { TroupeError } from "../util/errors.js";
import type { ProcessIdentity } from "../util/process-identity.js";

/**
 * Ends a teammate but for the processes in `keep`. Throws TroupeError `keep-unsupported` where there are some and its backend
 * cannot tell them apart: nothing is ended then.
 */
export function killKeeping(
  executor: TeammateExecutor,
  agentId: string,
  keep: readonly ProcessIdentity[],
): Promise<KillReport> {
  if (keep.length === 0) return executor.kill(agentId);
  checkKeeps(executor);
  return executor.killExcept?.(agentId, keep) ?? executor.kill(agentId);
}

/** Throws TroupeError `keep-unsupported` for a backend that ends all or nothing. */
export function checkKeeps({ type, killExcept }: TeammateExecutor): void {
  if (killExcept === undefined)
    throw new TroupeError("keep-unsupported", `the backend ${type} cannot keep a part of what it ends`, {
      kind: "unavailable",
    });
}
