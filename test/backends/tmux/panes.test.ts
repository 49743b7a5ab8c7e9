import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { TmuxAnswer, TmuxClient, TmuxCommand } from "../../../backends/tmux/client.js";
import { openInsidePlace } from "../../../backends/tmux/inside-place.js";
import type { PaneRequest } from "../../../backends/tmux/open-commands.js";
import { createPanes } from "../../../backends/tmux/panes.js";
import type { Placement } from "../../../backends/types.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { type TestTmux, tmuxProgram } from "../../helpers/tmux.js";
import { panesOf, usersServer } from "./support.js";

const tiled: Placement = { layout: "tiled", leadWidth: 40, maxPanesPerWindow: 6 };

/** Panes on a user's server, with the calls that open some. `change` may change an answer. */
function panesOn(
  tmux: TestTmux,
  dir: string,
  change: (answer: TmuxAnswer, commands: readonly TmuxCommand[]) => TmuxAnswer = (answer) => answer,
) {
  const calls: number[] = [];
  const closings: number[] = [];
  const options = { program: tmuxProgram, env: process.env, socket: tmux.socket, pane: "%0" };
  const place = openInsidePlace(options);
  const client: TmuxClient = {
    ...place.client,
    async run(commands, deadlineMs) {
      const opens = commands.filter(([name = ""]) => /^(new|split)-window$/.test(name)).length;
      if (opens > 0) calls.push(opens);
      const closes = commands.filter((command) =>
        command.some((word) => word.startsWith("kill-pane")),
      ).length;
      if (closes > 0) closings.push(closes);
      return change(await place.client.run(commands, deadlineMs), commands);
    },
  };
  const lockDir = path.join(dir, "lock");
  const panes = createPanes({ place: { ...place, client }, owner: "us", windowName: "team", lockDir });
  return { panes, calls, closings };
}

function request(dir: string, n: number, placement = tiled): PaneRequest {
  const log = path.join(dir, `log ${n}'s`);
  const label = {
    owner: "us",
    tag: `feed0000${n}`.slice(-12),
    agentId: `mate${n}@team`,
    team: "team",
    name: `mate${n}`,
    colour: 33,
    log,
  };
  return { argv: ["/bin/sh", "-c", `echo "I am ${n}"; exec sleep 300`], label, placement };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("panes that are asked for at once", () => {
  it("are opened by few calls, each with its own label, in windows that are not too full", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const { panes, calls } = panesOn(tmux, dir);
    const opened = await Promise.all(numbers(14).map((n) => panes.open(request(dir, n))));
    // Five beside the lead's; then a window, and five in it; then a window, and two in it.
    expect(calls).toEqual([5, 1, 5, 1, 2]);
    const rows = panesOf(tmux, "#{pane_id} #{@troupe_agent} #{pane_title} #{@troupe_tag}").slice(1);
    const told = opened.map(
      ({ row }, n) => `${row.pane} mate${n}@team mate${n} ${request(dir, n).label.tag}`,
    );
    expect(rows.sort()).toEqual(told.sort());
    expect(panesOf(tmux, "#{window_id}").filter((id) => id === "@0")).toHaveLength(6);
    for (const n of numbers(14)) {
      const log = path.join(dir, `log ${n}'s`);
      await expect.poll(() => fs.existsSync(log) && fs.readFileSync(log, "utf8")).toBe(`I am ${n}\r\n`);
    }
  });

  it("are closed by one call where that is asked for at once, and their windows are as they were", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const before = panesOf(tmux, "#{pane_id} #{window_layout} #{pane-border-status}");
    const { panes, closings } = panesOn(tmux, dir);
    const opened = await Promise.all(numbers(8).map((n) => panes.open(request(dir, n))));
    const refs = opened.map(({ row, server }, n) => {
      return { pane: row.pane, window: row.window, server, tag: request(dir, n).label.tag };
    });
    const [stranger, ...ours] = refs;
    if (stranger !== undefined) tmux.run("set-option", "-p", "-t", stranger.pane, "@troupe_tag", "another");
    await Promise.all(refs.map((ref) => panes.close(ref)));
    expect(closings).toEqual([8]);
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0", stranger?.pane]);
    if (stranger !== undefined) await panes.close({ ...stranger, tag: "another" });
    expect(panesOf(tmux, "#{pane_id} #{window_layout} #{pane-border-status}")).toEqual(before);
    await Promise.all(ours.map((ref) => panes.close(ref)));
  });

  it("each in a window of its own are opened by one call", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const { panes, calls } = panesOn(tmux, dir);
    const apart = { ...tiled, layout: "windows" } as const;
    await Promise.all(numbers(4).map((n) => panes.open(request(dir, n, apart))));
    expect(calls).toEqual([4]);
    expect(panesOf(tmux, "#{window_index} #{@troupe_name}")).toEqual([
      "0 ",
      ...numbers(4).map((n) => `${n + 1} mate${n}`),
    ]);
  });

  it("stay with the last words of programs that end at once", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const { panes } = panesOn(tmux, dir);
    const brief = numbers(3).map((n) => ({ ...request(dir, n), argv: ["/bin/sh", "-c", `echo bye ${n}`] }));
    const opened = await Promise.all(brief.map((each) => panes.open(each)));
    await expect.poll(() => panesOf(tmux, "#{pane_dead}")).toEqual(["0", "1", "1", "1"]);
    for (const [n, { row }] of opened.entries())
      expect(tmux.run("capture-pane", "-p", "-S", "-", "-t", row.pane)).toContain(`bye ${n}`);
  });

  it("in unlike layouts are opened apart", async () => {
    const dir = temporaryDirectory();
    const { panes, calls } = panesOn(usersServer(), dir);
    const flat = { ...tiled, layout: "even-vertical" } as const;
    const asked = [request(dir, 0), request(dir, 1), request(dir, 2, flat)];
    await Promise.all(asked.map((each) => panes.open(each)));
    expect(calls).toEqual([2, 1]);
  });

  it("get their labels also where a hook of the user's moves panes as they come", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer(
      `set-hook -g after-split-window 'swap-pane -d -s "{bottom-right}" -t "{top-left}"'`,
    );
    const { panes } = panesOn(tmux, dir);
    const opened = await Promise.all(numbers(3).map((n) => panes.open(request(dir, n))));
    const rows = panesOf(tmux, "#{pane_id} #{@troupe_name} #{pane_title}");
    for (const [n, { row }] of opened.entries()) expect(rows).toContain(`${row.pane} mate${n} mate${n}`);
    expect(rows[0]).not.toMatch(/^%0/);
    expect(tmux.run("show-options", "-p", "-t", "%0")).toBe("");
  });

  it("are closed where a server opened them after its call was given up", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    let late = true;
    const { panes } = panesOn(tmux, dir, (answer, commands) => {
      if (!late || !commands.some(([name]) => name === "split-window")) return answer;
      return { ok: false, failure: "timeout", message: "no answer", stdout: "" };
    });
    const given = await Promise.allSettled([0, 1].map((n) => panes.open(request(dir, n))));
    expect(given.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(panesOf(tmux, "#{pane_id}")).toHaveLength(3);
    late = false;
    await panes.open(request(dir, 2));
    expect(panesOf(tmux, "#{@troupe_name}")).toEqual(["", "mate2"]);
    await panes.tidy();
    expect(panesOf(tmux, "#{@troupe_name}")).toEqual(["", "mate2"]);
  });

  it("are found where one of them cannot be opened", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    let failed = false;
    const { panes } = panesOn(tmux, dir, (answer, commands) => {
      if (failed || !commands.some(([name]) => name === "split-window") || !answer.ok) return answer;
      // As where tmux refuses the second: what came before it was done.
      failed = true;
      const [row = ""] = answer.stdout.split("\n");
      for (const pane of panesOf(tmux, "#{pane_id}").filter((id) => !["%0", "%1"].includes(id)))
        tmux.run("kill-pane", "-t", pane);
      return { ok: false, failure: "no-space", message: "no space for new pane", stdout: `${row}\n` };
    });
    const opened = await Promise.all(numbers(3).map((n) => panes.open(request(dir, n))));
    expect(new Set(opened.map(({ row }) => row.window)).size).toBe(2);
    expect(panesOf(tmux, "#{@troupe_name}").filter(Boolean).sort()).toEqual(["mate0", "mate1", "mate2"]);
  });
});
