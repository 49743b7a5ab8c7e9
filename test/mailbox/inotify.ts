import { spawnSync } from "node:child_process";
import fs from "node:fs";

/** Whether this process has a watch of exactly this directory (Linux). */
export function isWatched(directory: string): boolean {
  const inode = fs.statSync(directory, { throwIfNoEntry: false })?.ino.toString(16);
  return fs.readdirSync("/proc/self/fdinfo").some((fd) => {
    try {
      const text = fs.readFileSync(`/proc/self/fdinfo/${fd}`, "utf8");
      return text.split("\n").some((line) => line.startsWith("inotify ") && line.includes(` ino:${inode} `));
    } catch {
      return false; // closed meanwhile
    }
  });
}

/** What runs a program in a user namespace of its own in which `limit` is 0. */
export function without(limit: "max_inotify_watches" | "max_inotify_instances"): readonly string[] {
  return ["unshare", "-Ur", "sh", "-c", `echo 0 >/proc/sys/user/${limit} && exec "$@"`, "sh"];
}

/** Whether this system lets us lower the limits of inotify for one process. */
export function canLowerLimits(): boolean {
  const [program = "", ...args] = [...without("max_inotify_watches"), "true"];
  return process.platform === "linux" && spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
