import fs from "node:fs";
import path from "node:path";

/** Removes what builds have left in `root` whose process, named by its pid, has ended. @param {string} root */
export function removeStaleBuilds(root) {
  for (const name of fs.readdirSync(root)) {
    const [, pid] = /^dist\.(\d+)(?:\.old)?\.tmp$/.exec(name) ?? [];
    if (pid !== undefined && !runs(Number(pid)))
      fs.rmSync(path.join(root, name), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function runs(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH";
  }
}
