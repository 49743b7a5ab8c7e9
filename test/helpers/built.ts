import { createHash } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { withLock } from "../../src/util/lock.js";

const root = path.resolve(import.meta.dirname, "../..");

/** The path of the command in dist/, built first where it is older than its sources. Test files that ask together build once. */
export async function builtCommand(): Promise<string> {
  const scripts: { ensureBuilt(): string } = await import(path.join(root, "scripts/lib/ensure-built.mjs"));
  const id = createHash("sha256").update(root).digest("hex").slice(0, 12);
  return withLock(path.join(os.tmpdir(), `troupe-test-build-${id}`), 120_000, async () =>
    scripts.ensureBuilt(),
  );
}
