import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** A new empty directory (0700) with its links resolved; removed when the running test is over. */
export function temporaryDirectory(): string {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-")));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}
