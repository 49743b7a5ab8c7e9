import { identityOf, type Liveness, type ProcessIdentity } from "../src/util/process-identity.js";

/**
 * A process as part of a file name: `<pid>-<start time>-<boot id>-<pid namespace>`, each without the characters
 * outside `[0-9A-Za-z]`. It stands in the name itself, so that a claim is one rename, which a full disk allows.
 */
export function claimantOf(identity: ProcessIdentity): string {
  const { pid, startTime, bootId, pidNamespace } = identity;
  return [pid, startTime, bootId, pidNamespace]
    .map((part) => String(part).replace(/[^0-9A-Za-z]/g, ""))
    .join("-");
}

/**
 * Whether a claimant still runs, as seen by `self`. Another boot is `gone`, another pid namespace `unknown`, and so is
 * a name of another form. A claimant without boot and namespace is judged as one of this boot and namespace.
 */
export function claimantLiveness(claimant: string, self: ProcessIdentity): Liveness {
  const [pid, startTime, bootId, pidNamespace, ...rest] = claimant.split("-");
  if (!/^\d{1,10}$/.test(pid ?? "") || !startTime || rest.length > 0) return "unknown";
  const [, , ownBoot, ownNamespace] = claimantOf(self).split("-");
  if (bootId !== undefined && bootId !== ownBoot) return "gone";
  if (pidNamespace !== undefined && pidNamespace !== ownNamespace) return "unknown";
  const now = identityOf(Number(pid));
  return now !== undefined && claimantOf(now).split("-")[1] === startTime ? "alive" : "gone";
}
