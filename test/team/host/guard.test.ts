import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { requireHost } from "../../../src/team/host/client.js";
import { launchHost } from "../../../src/team/host/launch-host.js";
import { isRunning } from "../../../src/team/locate.js";
import { readHostRecord, readMember } from "../../../src/team/records.js";
import type { StartRequest } from "../../../src/team/start.js";
import type { TeamFile } from "../../../src/team/team-file/schema.js";
import { identityOf, liveness, type ProcessIdentity } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { type MadeHome, makeHome } from "../../cli/made-team.js";
import { bundleScript } from "../../helpers/bundle.js";

const soon = { timeoutMs: 20_000 };

/** A team in a detached host of its own, which ends with the test, as does all that it left. */
async function launch(file: Partial<TeamFile>) {
  const made = makeHome();
  const troupe = [process.execPath, bundleScript(path.resolve(import.meta.dirname, "../../../src/bin.ts"))];
  const request: StartRequest = {
    file: { name: "demo", teammates: [], ...file },
    home: made.home,
    projectRoot: made.project,
    backend: { type: "in-process", reason: "test" },
    model: "offline",
    troupe,
  };
  const paths = await launchHost(request, { PATH: process.env["PATH"], HOME: made.root });
  onTestFinished(() => cleanUp(made));
  const host = await requireHost(paths);
  onTestFinished(() => host.close());
  await host.request("ready", {}, { timeoutMs: 20_000 });
  return { made, paths, host };
}

function cleanUp({ root }: MadeHome): void {
  for (const identity of processesNaming(root)) process.kill(identity.pid, "SIGKILL");
  fs.rmSync(root, { recursive: true, force: true });
}

/** Processes with `word` in their arguments or their environment. */
function processesNaming(word: string): ProcessIdentity[] {
  return fs.readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const text = ["cmdline", "environ"].map((file) => fs.readFileSync(`/proc/${name}/${file}`, "utf8"));
      return text.some((each) => each.includes(word)) ? (identityOf(Number(name)) ?? []) : [];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

describe.runIf(process.platform === "linux")("a host that was started detached", () => {
  it("and is killed leaves nothing behind: its guard ends the members after the orphan timeout", async () => {
    const { made, paths, host } = await launch({
      limits: { orphanTimeout: 0.3 },
      teammates: [{ name: "sleeper", command: "setsid sleep 300 & sleep 301" }],
    });
    const sleeper = readMember(paths, "sleeper")?.process;
    expect(sleeper && liveness(sleeper)).toBe("alive");
    const { process: of } = readHostRecord(paths)!;
    expect(liveness(of)).toBe("alive");
    process.kill(of.pid, "SIGKILL");
    await host.closed;
    await waitUntil("the host's end", () => !isRunning(paths), soon);
    await waitUntil("the guard's work", () => readHostRecord(paths)?.endedAt !== undefined, soon);
    expect(readMember(paths, "sleeper")).toMatchObject({ state: "ended", reason: "lost" });
    await waitUntil("nothing", () => processesNaming(made.root).length === 0, soon);
  });

  it("and ends in order takes its guard along", async () => {
    const { made, paths, host } = await launch({
      teammates: [{ name: "sleeper", command: ["sleep", "301"] }],
    });
    expect(processesNaming(made.root).length).toBeGreaterThanOrEqual(3);
    const { members } = await host.request("down", {}, { timeoutMs: 20_000 });
    expect(members).toMatchObject([{ name: "sleeper", report: { survivors: [] } }]);
    await host.closed;
    expect(readHostRecord(paths)?.endedAt).toBeDefined();
    await waitUntil("nothing", () => processesNaming(made.root).length === 0, soon);
    expect(isRunning(paths)).toBe(false);
  });
});
