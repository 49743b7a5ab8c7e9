import path from "node:path";
import { withLock } from "../../src/util/lock.js";

const root = path.resolve(import.meta.dirname, "../..");

/** The path of the command in dist/, built first where it is older than its sources. Test files that ask together build once. */
export async function builtCommand(): Promise<string> {
  const scripts: { ensureBuilt(): string } = await import(path.join(root, "scripts/lib/ensure-built.mjs"));
  return withLock(path.join(root, "dist.lock"), 120_000, async () => scripts.ensureBuilt());
}
