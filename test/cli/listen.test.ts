import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openMailbox } from "../../mailbox/store.js";
import type { TeamPaths } from "../../src/team/paths.js";
import { mailboxOf } from "../../src/team/send.js";
import { bundleScript } from "../helpers/bundle.js";
import { until } from "../helpers/until.js";
import { type MadeHome, makeHome, makeTeam } from "./made-team.js";
import { type RunOptions, runLine } from "./run-line.js";

let made: MadeHome;
let paths: TeamPaths;
let socket: string;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, { members: [{ name: "ada" }] });
  socket = path.join(made.root, "mail.sock");
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function troupe(argv: readonly string[], options: RunOptions = {}) {
  return runLine(argv, { cwd: made.project, ...options, env: { TROUPE_HOME: made.home, ...options.env } });
}

/** Runs a command line that ends by a signal, which `end` is, and gives what it printed and noted. */
function running(argv: readonly string[]) {
  const stop = new AbortController();
  let printed = "";
  const onPrint = (stdout: string) => {
    printed = stdout;
  };
  const finished = troupe(argv, { signal: stop.signal, onPrint });
  return {
    printed: () => printed,
    end: () => {
      stop.abort(new Error("ended"));
      return finished;
    },
  };
}

const listens = () => until(() => fs.existsSync(socket), "the socket");
const counts = (name: string) => openMailbox(mailboxOf(paths, name)).counts();

describe("inbox --listen", () => {
  it("takes what send hands over, for the user or another member, and leaves it unread", async () => {
    const listening = running(["inbox", "ada", "--listen", socket, "--json"]);
    await listens();
    const sent = await troupe(["send", `uds:${socket}`, "hello", "--id", "0123abcd", "--json"]);
    expect(sent.exitCode).toBe(0);
    expect(JSON.parse(sent.stdout)).toMatchObject({
      id: "0123abcd",
      from: "user",
      to: `uds:${socket}`,
      receipt: "stored",
      deliveries: [{ name: `uds:${socket}`, outcome: "stored", receipt: "stored" }],
    });
    expect((await troupe(["send", `uds:${socket}`, "hello", "--id", "0123abcd"])).stdout).toBe(
      `stored before for uds:${socket} #0123abcd\n`,
    );
    expect(counts("ada")).toMatchObject({ new: 1, cur: 0, done: 0 });
    const { exitCode, stdout, stderr } = await listening.end();
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ inbox: "ada", listening: socket });
    expect(stderr).toBe(`troupe: listening at ${socket} for ada\n`);
    expect(fs.existsSync(socket)).toBe(false);
  });

  it("prints it too with --follow; the seal names the socket and proves nobody to the mailbox", async () => {
    const following = running(["inbox", "--listen", socket, "--follow", "--json"]);
    await listens();
    await troupe(["send", `uds:${socket}`, "by the socket"]);
    await troupe(["send", "user", "by name"]);
    const lines = () => following.printed().trim().split("\n");
    await until(() => lines().length === 2, "two messages");
    await following.end();
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      { text: "by the socket", sender: "external:user" },
      { text: "by name", sender: "user" },
    ]);
    expect(counts("user")).toMatchObject({ new: 0, done: 2 });
  });

  it("is refused where it cannot listen, before anything is read", async () => {
    fs.writeFileSync(socket, "kept");
    await troupe(["send", "user", "x"]);
    expect(await troupe(["inbox", "--listen", socket, "--follow"])).toMatchObject({
      exitCode: 1,
      error: { code: "socket-taken" },
    });
    expect(await troupe(["inbox", "--listen", "x".repeat(120)])).toMatchObject({ exitCode: 2 });
    expect(counts("user")).toMatchObject({ new: 1, done: 0 });
    expect(fs.readFileSync(socket, "utf8")).toBe("kept");
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "removes its socket when %s ends it, and takes the place of one that was killed",
    async (signal, code) => {
      const start = () => {
        const child = spawn(
          process.execPath,
          [bundleScript(path.join(import.meta.dirname, "../../src/bin.ts")), "inbox", "--listen", socket],
          {
            cwd: made.project,
            env: { ...process.env, TROUPE_HOME: made.home },
            stdio: ["ignore", "ignore", "pipe"],
          },
        );
        onTestFinished(() => void child.kill("SIGKILL"));
        return child;
      };
      const first = start();
      await once(first.stderr, "data");
      first.kill("SIGKILL");
      await once(first, "exit");
      expect(fs.existsSync(socket)).toBe(true);
      const second = start();
      await once(second.stderr, "data");
      expect((await troupe(["send", `uds:${socket}`, "x"])).exitCode).toBe(0);
      second.kill(signal);
      expect(await once(second, "exit")).toEqual([code, null]);
      expect(fs.existsSync(socket)).toBe(false);
      expect(counts("user").new).toBe(1);
    },
  );
});

describe("send to a socket", () => {
  it("needs no team", async () => {
    const listening = running(["inbox", "--listen", socket]);
    await listens();
    expect((await troupe(["send", `uds:${socket}`, "x"], { cwd: "/" })).exitCode).toBe(0);
    await listening.end();
  });

  it.each([
    [["uds:relative", "x"], 2, "bad-address"],
    [["uds:/none/there", "x"], 4, "no-listener"],
    [["uds:/none/there", "x", "--wait", "delivered"], 2, "usage"],
    [["uds:/none/there", "x", "--wait", "seen"], 2, "usage"],
    [["uds:/none/there", "x", "--wait", "replied"], 2, "usage"],
    [["uds:/none/there", "x", "--team", "demo"], 2, "usage"],
    [["uds:/none/there"], 2, "usage"],
  ])("answers %j with exit code %d", async (words, exitCode, code) => {
    expect(await troupe(["send", ...words])).toMatchObject({ exitCode, error: { code } });
  });
});
