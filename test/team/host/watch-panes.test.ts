import { describe, expect, it, onTestFinished } from "vitest";
import { openPaneTags } from "../../../backends/tmux/pane-tags.js";
import { watchPanes } from "../../../src/team/host/watch-panes.js";
import { memberFile, writeRecord } from "../../../src/team/records.js";
import { teamStatus } from "../../../src/team/status.js";
import { identityOf, liveness } from "../../../src/util/process-identity.js";
import { startTmux, tmuxProgram } from "../../helpers/tmux.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

/** A team whose members run in panes of a user's server, in programs that live on without them; its panes are watched. */
async function watched() {
  const tmux = startTmux();
  onTestFinished(tmux.stop);
  const team = await makeLivingTeam();
  const server = identityOf(Number(tmux.run("display-message", "-p", "#{pid}")))!;
  for (const name of ["ada", "bob"]) {
    const made = tmux.run(
      ...["split-window", "-d", "-P", "-F", "#{pane_id} #{window_id} #{pane_pid}"],
      "trap '' HUP; exec sleep 300",
    );
    const [pane = "", window = "", pid] = made.split(" ");
    tmux.run("set-option", "-p", "-t", pane, "@troupe_tag", `tag-${name}`);
    const process_ = await until(() => identityOf(Number(pid)), "the program");
    onTestFinished(() => void (liveness(process_) === "alive" && process.kill(process_.pid, "SIGKILL")));
    await until(
      () => tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}") === "sleep",
      "it",
    );
    const member = team.member(name);
    const { agentId } = member;
    const ref = {
      backend: "tmux",
      ...{ agentId, runDir: team.paths.run, pane, window, tag: `tag-${name}` },
      ...{ process: process_, server: { socket: tmux.socket, process: server } },
    } as const;
    await writeRecord(memberFile(team.paths, name), { ...member, state: "working", process: process_, ref });
  }
  const context = await hostContext(team);
  let looks = 0;
  const paneTags = async (socket: string) => {
    const tags = openPaneTags({ program: tmuxProgram, socket, env: process.env });
    return { look: (pid: number) => tags.look(pid).finally(() => looks++) };
  };
  const stop = new AbortController();
  const watching = watchPanes({ ...context, executors: { ...context.executors, paneTags } }, stop.signal, 50);
  onTestFinished(async () => {
    stop.abort();
    await watching;
  });
  const told = () => context.events.flatMap((event) => (event.type === "notice" ? event : []));
  const looked = (times: number) => until(() => looks >= times, "looks");
  const paneOf = (name: string) => context.roster.find(name)?.ref?.pane ?? "";
  const statusOf = async (name: string) => {
    await context.roster.flush();
    return teamStatus(team).members.find((member) => member.name === name);
  };
  return { tmux, told, looked, looks: () => looks, paneOf, statusOf, server };
}

describe("the pane of a member", () => {
  it("that a person moved away is none to tell of; one that was closed under a program that goes on is, once", async () => {
    const { tmux, told, looked, looks, paneOf, statusOf } = await watched();
    tmux.run("break-pane", "-d", "-s", paneOf("bob"));
    await looked(2);
    expect(told()).toEqual([]);
    tmux.run("kill-pane", "-t", paneOf("ada"));
    await until(() => told().length > 0, "the news");
    await looked(looks() + 3);
    const text = expect.stringMatching(/^ada works on without its pane: %\d+ was closed; .*troupe stop ada$/);
    expect(told()).toMatchObject([{ name: "ada", level: "warning", text }]);
    expect(await statusOf("ada")).toMatchObject({ state: "working", paneClosed: true });
    expect(await statusOf("bob")).not.toHaveProperty("paneClosed");
  });

  it("that went with its server is told of as such", async () => {
    const { tmux, told, looked, server } = await watched();
    await looked(1);
    tmux.run("kill-server");
    await until(() => told().length >= 2, "the news");
    expect(told().map(({ text }) => text)).toEqual(
      ["ada", "bob"].map((name) =>
        expect.stringMatching(`${name} .* went with its tmux server .pid ${server.pid}`),
      ),
    );
  });

  it("on a server that does not answer, or on another one in its place, cannot be told of", async () => {
    const { tmux, server, paneOf } = await watched();
    const tagsOn = (program: string) => openPaneTags({ program, socket: tmux.socket, env: process.env });
    expect((await tagsOn(tmuxProgram).look(server.pid))?.get(paneOf("ada"))).toBe("tag-ada");
    expect(await tagsOn(tmuxProgram).look(server.pid + 1)).toBeUndefined();
    expect(await tagsOn("false").look(server.pid)).toBeUndefined();
  });
});
