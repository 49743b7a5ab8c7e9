import path from "node:path";
import { listClaims } from "./layout.js";
import { isUnchanged, lookAt } from "./look.js";

/**
 * Tells at each call whether `cur/` of the mailbox `dir` holds claims, some of which may have lost their process. Where none were
 * held and nothing changed since, that costs one stat. Throws TroupeError `no-mailbox` or `mailbox-unreadable`.
 */
export function createClaimLookout(dir: string): () => boolean {
  const directory = path.join(dir, "cur");
  let seen = lookAt(directory);
  let held = true;
  return () => {
    const now = lookAt(directory);
    if (!held && isUnchanged(seen, now)) return false;
    seen = now;
    held = listClaims(dir).length > 0;
    return held;
  };
}
