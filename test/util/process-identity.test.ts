import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  identityOf,
  liveness,
  type ProcessIdentity,
  readStat,
  sameProcess,
  selfIdentity,
} from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { temporaryDirectory } from "../helpers/temp.js";

function start(command: string, args: readonly string[], cwd = "/"): ChildProcess {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"], cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

describe("process identity", () => {
  it("tells this process alive and itself", () => {
    expect(liveness(selfIdentity())).toBe("alive");
    expect(identityOf(process.pid)).toEqual(selfIdentity());
    expect(sameProcess(selfIdentity(), { ...selfIdentity() })).toBe(true);
  });

  it("tells a process gone once it has ended", async () => {
    const child = start("sleep", ["60"]);
    const identity = identityOf(child.pid!)!;
    expect(liveness(identity)).toBe("alive");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(liveness(identity)).toBe("gone");
    expect(identityOf(child.pid!)).toBeUndefined();
  });

  it("tells a zombie gone: its pid is taken, but nothing runs", async () => {
    // The child ends only after exec has put a program in the shell's place that never waits for it: a shell might.
    const child = "while [ ! -e go ]; do sleep 0.05; done & echo $!; exec sleep 60";
    const dir = temporaryDirectory();
    const parent = start("/bin/sh", ["-c", child], dir);
    const [line] = (await once(parent.stdout!, "data")) as [Buffer];
    const pid = Number(line.toString());
    const isReplaced = () => fs.readFileSync(`/proc/${parent.pid}/comm`, "utf8").startsWith("sleep");
    if (process.platform === "linux") await waitUntil("the exec", isReplaced, { timeoutMs: 5000 });
    fs.writeFileSync(path.join(dir, "go"), "");
    if (process.platform === "linux")
      await waitUntil("a zombie", () => readStat(pid)?.state === "Z", { timeoutMs: 5000 });
    await waitUntil("no identity", () => identityOf(pid) === undefined, { timeoutMs: 5000 });
    expect(liveness({ ...selfIdentity(), pid, startTime: readStat(pid)?.startTime ?? "" })).toBe("gone");
  });

  it.each<[string, Partial<ProcessIdentity>, string]>([
    ["a pid given to another process", { startTime: "1" }, "gone"],
    ["another boot", { bootId: "6a0c1f6e-0000-0000-0000-000000000000" }, "gone"],
    ["another pid namespace", { pidNamespace: "pid:[1]" }, "unknown"],
    ["another boot and namespace", { bootId: "x", pidNamespace: "pid:[1]" }, "gone"],
  ])("tells %s apart", (_, change, expected) => {
    const other = { ...selfIdentity(), ...change };
    expect(liveness(other)).toBe(expected);
    expect(sameProcess(selfIdentity(), other)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "reads a process whose name looks like the fields after it",
    async () => {
      const child = start("/bin/sh", [
        "-c",
        "printf ') Z 1 2' > /proc/self/comm; echo; read -r _ < /dev/zero",
      ]);
      await once(child.stdout!, "data");
      const stat = readStat(child.pid!)!;
      expect(stat).toMatchObject({ ppid: process.pid });
      expect(stat.state).toMatch(/[RSD]/);
      expect(liveness(identityOf(child.pid!)!)).toBe("alive");
    },
  );
});
