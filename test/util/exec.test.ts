import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ExecError, type ExecOptions, exec } from "../../src/util/exec.js";
import { groupRuns } from "../../src/util/process-group.js";
import { identityOf, liveness } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-exec-"));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const run = (script: string, options: Partial<ExecOptions> = {}, signal?: AbortSignal) =>
  exec(["bash", "-c", script], { cwd: dir, timeoutMs: 10_000, killAfterMs: 200, ...options }, signal);

async function failureOf(work: Promise<unknown>): Promise<ExecError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ExecError);
  return error as ExecError;
}

/** The identity of the process whose pid the script wrote to `file`. */
async function processIn(file: string) {
  const read = () => (fs.existsSync(file) && Number(fs.readFileSync(file, "utf8"))) || undefined;
  const pid = await waitUntil("pid file", read, { timeoutMs: 5000 });
  const identity = identityOf(pid);
  if (identity === undefined) throw new Error(`process ${pid} has gone already`);
  return identity;
}

describe("exec", () => {
  it("gives stdout, stderr and the exit code apart", async () => {
    const result = await run("echo out; echo err >&2");
    expect(result).toMatchObject({ exitCode: 0, stdout: "out\n", stderr: "err\n", truncated: false });
    expect(result.signal).toBeUndefined();
    expect(result.leftBehind).toBe("nothing");
  });

  it("passes arguments without a shell", async () => {
    const result = await exec(["printf", "%s|", "a b", "$HOME", "*"], { cwd: dir, timeoutMs: 5000 });
    expect(result.stdout).toBe("a b|$HOME|*|");
  });

  it("runs in the given directory with exactly the given environment", async () => {
    const result = await exec(["/usr/bin/env"], { cwd: dir, env: { ONLY: "this" }, timeoutMs: 5000 });
    expect(result.stdout).toBe("ONLY=this\n");
    expect((await run("pwd -P")).stdout.trim()).toBe(fs.realpathSync(dir));
  });

  it("feeds stdin, and has an empty one otherwise", async () => {
    expect((await run("cat", { input: "text" })).stdout).toBe("text");
    expect((await run("cat; echo end")).stdout).toBe("end\n");
  });

  it("throws on a failing command, with argv, exit code and the end of stderr", async () => {
    const error = await failureOf(run("echo first >&2; echo last >&2; exit 3"));
    expect(error.code).toBe("exec-failed");
    expect(error.message).toBe("bash: exit code 3: first last");
    expect(error.failure).toMatchObject({ reason: "exit", exitCode: 3, stderr: "first\nlast\n" });
    expect(error.failure.argv[0]).toBe("bash");
  });

  it("takes other exit codes as answers where told", async () => {
    expect((await run("exit 1", { okCodes: [0, 1] })).exitCode).toBe(1);
    expect((await failureOf(run("exit 2", { okCodes: [0, 1] }))).failure.exitCode).toBe(2);
    expect((await run("exit 77", { okCodes: "any" })).exitCode).toBe(77);
  });

  it("never takes death by a signal for success", async () => {
    const error = await failureOf(run("kill -SEGV $$"));
    expect(error.failure).toMatchObject({ exitCode: undefined, signal: "SIGSEGV" });
    expect(await run("kill -SEGV $$", { okCodes: "any" })).toMatchObject({
      exitCode: undefined,
      signal: "SIGSEGV",
    });
  });

  it("tells a command that does not exist from one that failed", async () => {
    const error = await failureOf(exec(["troupe-no-such-command"], { cwd: dir, timeoutMs: 5000 }));
    expect(error.code).toBe("exec-not-started");
    expect(error.kind).toBe("unavailable");
    expect(error.message).toContain("troupe-no-such-command");
    const missing = await failureOf(exec(["true"], { cwd: path.join(dir, "none"), timeoutMs: 5000 }));
    expect(missing.code).toBe("exec-not-started");
  });

  it("cuts output at its cap and lets the command finish", async () => {
    const result = await run("head -c 3000000 /dev/zero | tr '\\0' x; touch done", { maxBytes: 1000 });
    expect(result.stdout).toHaveLength(1000);
    expect(result.truncated).toBe(true);
    expect(fs.existsSync(path.join(dir, "done"))).toBe(true);
  });

  it("ends an endless listing at its cap", async () => {
    const result = await run("yes", { maxBytes: 1000, endAtCap: true });
    expect(result.stdout).toHaveLength(1000);
    expect(groupRuns(result.pgid)).toBe(false);
  });

  it("hands output on as it comes", async () => {
    const seen: string[] = [];
    const result = await run("echo a; sleep 0.05; echo b >&2", {
      onOutput: (chunk) => seen.push(chunk.toString()),
    });
    expect(seen.join("")).toBe("a\nb\n");
    expect(result.stdout).toBe("");
  });

  it("ends the command when its output cannot be taken", async () => {
    const full = new Error("no space");
    const onOutput = () => {
      throw full;
    };
    await expect(run(`echo $$ > ${dir}/pid; yes`, { onOutput })).rejects.toBe(full);
    expect(identityOf(Number(fs.readFileSync(path.join(dir, "pid"), "utf8")))).toBeUndefined();
  });

  it("decodes characters that were split between chunks", async () => {
    const result = await run("printf '\\xe2\\x82'; sleep 0.05; printf '\\xac'");
    expect(result.stdout).toBe("€");
  });

  it("ends the whole group at the deadline, also what ignores TERM", async () => {
    const started = Date.now();
    const script = `trap '' TERM; (trap '' TERM; echo $BASHPID > ${dir}/pid; while :; do sleep 0.05; done) & while :; do sleep 0.05; done`;
    const [error, grandchild] = await Promise.all([
      failureOf(run(script, { timeoutMs: 500 })),
      processIn(path.join(dir, "pid")),
    ]);
    expect(error.code).toBe("exec-timeout");
    expect(error.kind).toBe("not-reached");
    expect(liveness(grandchild)).toBe("gone");
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it("ends the group on abort and throws the signal's reason", async () => {
    const controller = new AbortController();
    const work = run(`echo $$ > ${dir}/pid; sleep 60`, {}, controller.signal).catch(
      (error: unknown) => error,
    );
    const identity = await processIn(path.join(dir, "pid"));
    const reason = new Error("stop it");
    controller.abort(reason);
    expect(await work).toBe(reason);
    expect(liveness(identity)).toBe("gone");
  });

  it("starts nothing when aborted before", async () => {
    await expect(run(`touch ${dir}/ran`, {}, AbortSignal.abort(new Error("early")))).rejects.toThrow("early");
    expect(fs.existsSync(path.join(dir, "ran"))).toBe(false);
  });

  it("loses no output when this process was busy meanwhile", async () => {
    const work = run(`head -c 60000 /dev/zero | tr '\\0' x; echo $$ > ${dir}/pid`);
    const identity = await processIn(path.join(dir, "pid")).catch(() => undefined);
    const until = Date.now() + 700;
    while (Date.now() < until);
    expect(identity === undefined || liveness(identity) === "gone").toBe(true);
    expect((await work).stdout).toHaveLength(60_000);
  });

  it("does not wait for a grandchild that holds the output open, and ends it", async () => {
    const result = await run(`sleep 60 & echo $! > ${dir}/pid; echo done`, { keepBackground: true });
    expect(result).toMatchObject({ stdout: "done\n", leftBehind: "ended" });
    expect(identityOf(Number(fs.readFileSync(path.join(dir, "pid"), "utf8")))).toBeUndefined();
  });

  it("leaves a redirected background process alone only where told", async () => {
    const script = `sleep 60 > /dev/null 2>&1 & echo $!`;
    const kept = await run(script, { keepBackground: true });
    try {
      expect(kept.leftBehind).toBe("running");
      expect(groupRuns(kept.pgid)).toBe(true);
    } finally {
      process.kill(-kept.pgid, "SIGKILL");
    }
    const ended = await run(script);
    expect(ended.leftBehind).toBe("ended");
    expect(groupRuns(ended.pgid)).toBe(false);
  });

  it("returns although a process outside of the group holds the output open", async () => {
    const started = Date.now();
    const result = await run(`setsid sleep 60 & echo $! > ${dir}/pid; sleep 0.1; echo done`);
    const identity = await processIn(path.join(dir, "pid"));
    try {
      expect(result.stdout).toBe("done\n");
      expect(Date.now() - started).toBeLessThan(5000);
    } finally {
      process.kill(identity.pid, "SIGKILL");
    }
  });
});
