import { setImmediate as nextTurn } from "node:timers/promises";
import type { TeamEvent } from "../team/events.js";
import { connectHost, type HostConnection } from "../team/host/client.js";
import { endWithLast } from "../team/host/end-with-last.js";
import { launchHost } from "../team/host/launch-host.js";
import type { LocatedTeam } from "../team/locate.js";
import { readHostRecord, readTeamRecord } from "../team/records.js";
import { type StartRequest, startTeam } from "../team/start.js";
import { failCurrent } from "../util/context.js";
import { exitCodes } from "../util/errors.js";
import { aborted } from "./aborted.js";
import { attachTerminal } from "./attach-terminal.js";
import { awaitStarted } from "./await-started.js";
import type { Io } from "./io.js";
import { printResult } from "./output.js";
import { hasTerminal, openViewer, type Viewer } from "./viewer.js";

/** Hosts the team in this process, with the lead's view on this terminal, until it has ended; Ctrl-C ends it. */
export async function hostHere(request: StartRequest, io: Io, json: boolean): Promise<number> {
  io.claimFailures(failCurrent);
  const stop = new AbortController();
  let viewer: Viewer | undefined;
  const early: TeamEvent[] = [];
  const team = await startTeam(request, {
    env: io.env,
    signal: new AbortController().signal,
    onEvent: (event) => void (viewer === undefined ? early.push(event) : viewer.show(event)),
  });
  viewer = openViewer(team, io, json, () => stop.abort());
  for (const event of early) viewer.show(event);
  const end = (): void => void team.host.down({ reason: "interrupted", timeoutMs: 2_000 });
  for (const signal of [stop.signal, io.signal]) signal.addEventListener("abort", end, { once: true });
  try {
    await team.host.start();
    await endWithLast(team.host);
  } finally {
    await team.host.down({ reason: "the lead's view failed" });
    await nextTurn();
    viewer.close();
  }
  return 0;
}

/** Starts a detached host and looks at the team from this terminal; leaving the view does not end the team. */
export async function hostDetached(
  request: StartRequest,
  io: Io,
  options: { readonly detach: boolean; readonly json: boolean },
): Promise<number> {
  const paths = await launchHost(request, io.env, io.signal);
  const team = { paths, record: readTeamRecord(paths) };
  const host = await connectHost(paths, io.signal);
  if (host === undefined) {
    await io.note(`troupe: the host of ${paths.dirName} has ended: see ${paths.hostLog}`);
    return exitCodes.failed;
  }
  try {
    return options.detach
      ? await report(team, host, io, options.json)
      : await lookAt(team, host, io, options.json);
  } finally {
    host.close();
  }
}

/** Shows the team on this terminal until it ends or the person leaves: its own session if it has one, else the view. */
export async function lookAt(
  team: LocatedTeam,
  host: HostConnection,
  io: Io,
  json: boolean,
): Promise<number> {
  const { watchCommand } = await awaitStarted(team, host, io).catch(async (error: unknown) => {
    // Whoever interrupts the wait must hear that the team goes on without them.
    if (io.signal.aborted) await io.note(await farewell(team));
    throw error;
  });
  if (watchCommand !== undefined && hasTerminal(io)) return attachTerminal(team, watchCommand, io);
  if (watchCommand !== undefined) await io.note(`troupe: to watch: ${watchCommand.join(" ")}`);
  return viewHere(team, host, io, json);
}

/** The lead's view on this terminal. Resolves to 0 when the team has ended or the person left. */
export async function viewHere(
  team: LocatedTeam,
  host: HostConnection,
  io: Io,
  json: boolean,
): Promise<number> {
  const left = new AbortController();
  const viewer = openViewer(team, io, json, () => left.abort());
  let ended = false;
  host.onEvent((event) => {
    viewer.show(event);
    ended ||= event.type === "team-ended";
  });
  try {
    await host.request("subscribe", {}, { signal: io.signal });
    await Promise.race([host.closed, aborted(AbortSignal.any([left.signal, io.signal]))]);
  } finally {
    viewer.close();
  }
  if (!ended) await io.note(await farewell(team));
  return 0;
}

/** What to say to somebody who left a view: whether the team goes on, and how to come back. */
export async function farewell({ paths, record }: LocatedTeam): Promise<string> {
  const host = await connectHost(paths);
  host?.close();
  if (host !== undefined)
    return `troupe: team ${record.name} goes on; come back: troupe attach --team ${paths.dirName}; end it: troupe down --team ${paths.dirName}`;
  return readHostRecord(paths)?.endedAt === undefined
    ? `troupe: the host of ${record.name} is gone; end what it left: troupe down --team ${paths.dirName}`
    : `troupe: team ${record.name} has ended`;
}

async function report(team: LocatedTeam, host: HostConnection, io: Io, json: boolean): Promise<number> {
  const { failed, watchCommand } = await awaitStarted(team, host, io);
  const { paths, record } = team;
  const { backend } = record;
  const document = { team: record.name, dirName: paths.dirName, backend, failed, watchCommand };
  const text = [
    `team ${record.name} runs ${backend.type}: ${backend.reason}`,
    ...failed.map(({ name, detail }) => `${name} did not start: ${detail}`),
    `watch it: troupe attach --team ${paths.dirName}`,
    `end it: troupe down --team ${paths.dirName}`,
  ];
  await printResult(io, json, document, `${text.join("\n")}\n`);
  return failed.length === 0 ? 0 : exitCodes.failed;
}
