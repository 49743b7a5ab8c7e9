// @ts-check
// What the backend does beside other sessions of screen, and after the end of its own.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createScreenExecutor } from "./screen-executor.mjs";

test("leaves a person's sessions alone, also one that it is called from", { timeout: 60_000 }, async (t) => {
  const { dir, config } = place(t);
  const env = { ...process.env, SCREENDIR: path.join(dir, "person"), SYSSCREENRC: "/dev/null" };
  fs.mkdirSync(env.SCREENDIR, { mode: 0o700 });
  /** @param {string[]} args */
  const person = (...args) => execFileSync("screen", args, { env, encoding: "utf8" });
  person("-c", "/dev/null", "-d", "-m", "-S", "troupe", "-t", "mine", "/bin/sh", "-c", "exec cat");
  try {
    await until(() => fs.readdirSync(env.SCREENDIR).length > 0);
    const [socket] = fs.readdirSync(env.SCREENDIR);
    const windows = () => person("-S", "troupe", "-Q", "windows");
    const before = windows();
    const around = { ...env, STY: socket, WINDOW: "0" };
    const executor = createScreenExecutor({ dir: path.join(dir, "t"), env: around, deliver: async () => {} });
    assert.ok((await executor.spawn(config())).ok);
    assert.equal(windows(), before);
    assert.deepEqual((await executor.kill("scout@team")).survivors, []);
    await executor.close?.();
    assert.equal(windows(), before);
    assert.deepEqual(fs.readdirSync(env.SCREENDIR), [socket]);
  } finally {
    person("-S", "troupe", "-X", "quit");
  }
});

test("starts another session where its own was killed", { timeout: 60_000 }, async (t) => {
  const { dir, config } = place(t);
  const executor = createScreenExecutor({
    dir: path.join(dir, "t"),
    env: process.env,
    deliver: async () => {},
  });
  try {
    const first = await executor.spawn(config());
    const server = first.ok ? first.ref.server : undefined;
    assert.ok(server);
    process.kill(server.process.pid, "SIGKILL");
    await until(async () => (await executor.isActive("scout@team")) === "gone");
    const second = await executor.spawn(config());
    assert.ok(second.ok);
    assert.notEqual(second.ref.server?.socket, server.socket);
    assert.equal(fs.existsSync(server.socket), false);
  } finally {
    await executor.kill("scout@team");
    await executor.close?.();
  }
});

test("starts another session where a stranger has the pid of a killed one", {
  timeout: 60_000,
}, async (t) => {
  const { dir, config } = place(t);
  const options = { dir: path.join(dir, "t"), env: process.env, deliver: async () => {} };
  const executor = createScreenExecutor(options);
  const stale = path.join(options.dir, "sockets", `${process.pid}.troupe`);
  const first = await executor.spawn(config());
  const server = first.ok ? first.ref.server : undefined;
  assert.ok(server);
  process.kill(server.process.pid, "SIGKILL");
  await until(async () => (await executor.isActive("scout@team")) === "gone");
  fs.renameSync(server.socket, stale);
  /** @type {string[]} */
  const notes = [];
  const later = createScreenExecutor({ ...options, onNote: (text) => notes.push(text) });
  try {
    // What ended with its server is closed, whoever has the server's pid now.
    assert.equal(first.ok && (await later.adopt?.(first.ref)), false);
    assert.deepEqual(notes, []);
    const second = await later.spawn(config());
    assert.ok(second.ok, JSON.stringify(second));
    assert.notEqual(second.ref.server?.socket, stale);
    assert.equal(fs.existsSync(stale), false);
  } finally {
    await later.kill("scout@team");
    await later.close?.();
  }
});

test("ends no teammate by letting go, however often and whatever its name", {
  timeout: 60_000,
}, async (t) => {
  const { dir, config } = place(t);
  const executor = createScreenExecutor({
    dir: path.join(dir, "t"),
    env: process.env,
    deliver: async () => {},
  });
  try {
    assert.ok((await executor.spawn({ ...config(), name: "keeper" })).ok);
    for (let times = 0; times < 2; times++) await executor.close?.();
    const { stdout } = spawnSync("screen", ["-S", "troupe", "-Q", "windows"], {
      env: { ...process.env, SCREENDIR: path.join(dir, "t/sockets") },
      encoding: "utf8",
    });
    assert.match(stdout, /^\d+\S* keeper\.\S*$/);
    assert.equal(await executor.isActive("scout@team"), "alive");
  } finally {
    await executor.kill("scout@team");
  }
});

test("says what is missing, and what mends it", async () => {
  const options = { dir: "/none", env: process.env, deliver: async () => {}, program: "no-such-screen" };
  const { available, code, remedy } = await createScreenExecutor(options).isAvailable();
  assert.deepEqual({ available, code }, { available: false, code: "screen-missing" });
  assert.match(remedy ?? "", /install/);
});

/** @param {() => boolean | Promise<boolean>} isSo */
async function until(isSo) {
  for (const deadline = Date.now() + 20_000; !(await isSo()); await delay(20))
    assert.ok(Date.now() < deadline, `not in time: ${isSo}`);
}

/** A directory whose name screen would read something into, and a configuration in it. */
function place(/** @type {import("node:test").TestContext} */ t) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-$HOME-%n-"));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  let count = 0;
  const config = () => {
    const runDir = path.join(dir, `run${count++}`);
    fs.mkdirSync(runDir, { mode: 0o700 });
    return /** @type {const} */ ({
      agentId: "scout@team",
      name: "scout",
      team: "team",
      colour: 33,
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "" },
      launch: { kind: "argv", argv: ["sleep", "300"] },
      runDir,
      placement: { layout: "windows", leadWidth: 40, maxPanesPerWindow: 9 },
      deadlineMs: 10_000,
    });
  };
  return { dir, config };
}
