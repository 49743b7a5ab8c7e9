import { describe, expect, it, onTestFinished } from "vitest";
import type { TeamEvent } from "../../../src/team/events.js";
import { type ControlServer, type HostHandlers, listen } from "../../../src/team/host/server.js";
import { readHostRecord, writeRecord } from "../../../src/team/records.js";
import { runPaneTeammate } from "../../../src/team/runtime/pane-teammate.js";
import { selfIdentity } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import type { MessagesServer } from "../../helpers/messages-server.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { envFor, model, specOf } from "./running-teammate.js";

const soon = { timeoutMs: 20_000 };

/** What a host would hear of `ada`. */
async function listening(team: LivingTeam): Promise<{ server: ControlServer; heard: unknown[][] }> {
  const heard: unknown[][] = [];
  const note = (method: string) => (params: unknown) => void heard.push([method, params]);
  const handlers = { hello: note("hello"), report: note("report") } as unknown as HostHandlers;
  const server = await listen(team.paths.socket, handlers);
  onTestFinished(() => server.close());
  return { server, heard };
}

function start(team: LivingTeam, server: MessagesServer, spec: Parameters<typeof specOf>[2] = {}) {
  const events: TeamEvent[] = [];
  const stop = new AbortController();
  const ended = runPaneTeammate(specOf(team, "ada", spec), {
    env: envFor(server, team),
    onEvent: (event) => events.push(event),
    signal: stop.signal,
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  onTestFinished(async () => {
    stop.abort(new Error("the test is over"));
    await ended;
  });
  const notices = () => events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  return { events, notices, ended, stop };
}

describe("a teammate in a process of its own", () => {
  it("says hello, then reports what it does, and shows the same", async () => {
    const team = await makeLivingTeam();
    const { heard } = await listening(team);
    const { events, stop, ended } = start(team, await model([{ text: "Hi." }]), { prompt: "Go." });
    await waitUntil("idle", () => JSON.stringify(heard).includes('"state":"idle"'), soon);
    expect(heard[0]).toEqual([
      "hello",
      { name: "ada", incarnation: team.member("ada").incarnation, process: selfIdentity() },
    ]);
    const shown = events.map((event) => (event.type === "member-state" ? event.state : event.type));
    const told = heard.slice(1).map(([, report]) => {
      const { state, event } = report as { state?: { state: string }; event?: TeamEvent };
      return state?.state ?? event?.type;
    });
    expect(told).toEqual(shown);
    expect(shown).toContain("working");
    stop.abort(new Error("enough"));
    expect(await ended).toMatchObject({ message: "enough" });
  });

  it("ends when it is asked to, and closes its connection", async () => {
    const team = await makeLivingTeam();
    const { server, heard } = await listening(team);
    const { ended, notices } = start(team, await model([]), { orphanTimeoutMs: 600_000 });
    await waitUntil("idle", () => JSON.stringify(heard).includes('"state":"idle"'), soon);
    const { incarnation } = team.member("ada");
    await team.post("host", "ada", { kind: "shutdown-request", incarnation, requestId: "r" });
    expect(await ended).toBeUndefined();
    expect(notices()).toEqual([]);
    await server.close();
  });

  it("does not start without a host", async () => {
    const team = await makeLivingTeam();
    expect(await start(team, await model([])).ended).toMatchObject({ code: "no-host" });
  });

  it("finishes its turn if the host dies, says so, waits, and ends", async () => {
    const team = await makeLivingTeam();
    const { server, heard } = await listening(team);
    let answer: () => void = () => undefined;
    const slow = await model(async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { text: "Finished all the same." };
    });
    const { ended, notices } = start(team, slow, { prompt: "Go.", orphanTimeoutMs: 1500 });
    await waitUntil("request", () => slow.requests.length === 1, soon);
    expect(heard.length).toBeGreaterThan(1);
    await server.close();
    const died = Date.now();
    await waitUntil("the notice", () => notices().length > 0, soon);
    expect(notices()).toEqual([
      expect.stringMatching(/the host of this team is gone; .* ends in 2 s .*troupe down/),
    ]);
    answer();
    await waitUntil("last words", () => team.mailOf("user").length === 1, soon);
    expect(team.mailOf("user")).toMatchObject([{ text: "Finished all the same." }]);
    expect(await ended).toMatchObject({ code: "orphaned" });
    expect(Date.now() - died).toBeGreaterThanOrEqual(1400);
  });

  it("ends at once where the host ended in order", async () => {
    const team = await makeLivingTeam();
    const { server, heard } = await listening(team);
    const { ended, notices } = start(team, await model([]), { orphanTimeoutMs: 600_000 });
    await waitUntil("idle", () => JSON.stringify(heard).includes('"state":"idle"'), soon);
    const endedAt = new Date().toISOString();
    await writeRecord(team.paths.hostRecord, { ...readHostRecord(team.paths)!, endedAt });
    await server.close();
    expect(await ended).toMatchObject({ code: "orphaned" });
    expect(notices()).toEqual(["the team has ended"]);
  });
});
