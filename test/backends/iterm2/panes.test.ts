import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readExit } from "../../../backends/records.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { until } from "../../helpers/until.js";
import { connectClient, emulatorOf, goodHeaders } from "../../iterm2-emulator/api-client.js";
import type { Iterm2Emulator } from "../../iterm2-emulator/emulator.js";
import { executorOf, start } from "./support.js";

const tiled = { layout: "tiled", leadWidth: 40, maxPanesPerWindow: 9 } as const;

/** The number of panes in each tab, tabs of all windows in their order. */
const tabsOf = ({ app }: Iterm2Emulator): number[] =>
  app.windows.flatMap(({ tabs }) => tabs.map(({ tree }) => tree.leaves().length));

const sessionOf = ({ app }: Iterm2Emulator, id: string | undefined) => app.find(`${id}`)?.session;

describe("where panes open", () => {
  it("is beside the caller, whose pane keeps half and the focus; the others share the rest", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    for (const name of "abc") await start(executor, dir, name);
    const [window] = emulator.app.windows;
    const [tab] = window!.tabs;
    const [lead, ...rest] = tab!.tree.leaves().map((leaf) => ({ id: leaf.id, ...tab!.tree.areaOf(leaf) }));
    expect(lead).toMatchObject({ id: emulator.session, height: 50 });
    expect(lead!.width).toBeGreaterThanOrEqual(95);
    expect(rest).toHaveLength(3);
    for (const { width, height } of rest) expect(Math.min(width / 20, height / 4)).toBeGreaterThanOrEqual(1);
    expect(emulator.panes()[0]).toMatch(new RegExp(`${emulator.session} shown active$`));
  });

  it("is a tab of their own beside one in which the person has other panes, which stays as it is", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const own = await emulator.app.split(emulator.session, true, false, {});
    await emulator.app.openTab({ window: emulator.app.windows[0]!, select: true, profile: {} });
    const executor = executorOf(emulator, dir);
    const before = emulator.panes();
    for (const name of "ab") await start(executor, dir, name);
    expect(tabsOf(emulator)).toEqual([2, 2, 1]);
    expect(emulator.panes().filter((pane) => before.includes(pane))).toEqual(before);
    expect(typeof own).toBe("object");
  });

  it("is no tab in which a pane is maximized, and what is behind that is seen", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const [tab] = emulator.app.windows[0]!.tabs;
    await emulator.app.split(emulator.session, true, false, {});
    tab!.zoomed = tab!.tree.leaves()[0];
    await start(executor, dir, "a", undefined, { placement: tiled });
    expect(tabsOf(emulator)).toEqual([2, 1]);
    const own = emulator.app.windows[0]!.tabs[1];
    await start(executor, dir, "b", undefined, { placement: tiled });
    own!.zoomed = own!.tree.leaves()[0];
    await start(executor, dir, "c", undefined, { placement: tiled });
    expect(tabsOf(emulator)).toEqual([2, 2, 1]);
    expect(tab!.zoomed).toBeDefined();
    expect(own!.zoomed).toBeDefined();
  });

  it("is the next tab where one is full, cannot be divided, or each gets its own", async () => {
    const emulator = await emulatorOf({ width: 60, height: 9 });
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    for (const name of "abcd") await start(executor, dir, name, undefined, { placement: tiled });
    expect(tabsOf(emulator)).toEqual([4, 1]);
    emulator.faults.cannotSplit = true;
    await start(executor, dir, "e", undefined, { placement: tiled });
    expect(tabsOf(emulator)).toEqual([4, 1, 1]);
    emulator.faults.cannotSplit = false;
    await start(executor, dir, "f", undefined, { placement: { ...tiled, layout: "windows" } });
    await start(executor, dir, "g", undefined, { placement: { ...tiled, maxPanesPerWindow: 1 } });
    expect(tabsOf(emulator)).toEqual([4, 1, 1, 1, 1]);
    expect(emulator.panes()[0]).toMatch(/shown active$/);
  });

  it("is a window of the team's once the caller's pane is closed", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const { pane } = await start(executor, dir, "a");
    emulator.app.close(emulator.session);
    await start(executor, dir, "b");
    await executor.kill("a@team");
    await executor.kill("b@team");
    expect(emulator.panes()).toEqual([]);
    await start(executor, dir, "c");
    expect(tabsOf(emulator)).toEqual([1]);
    expect(pane).toBeDefined();
  });
});

describe("a teammate's pane", () => {
  it("says who works there, in its colour, and what it does, whatever the program says", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const hostile = ["/bin/sh", "-c", "printf '\\033]0;lead\\007ready'; exec sleep 300"];
    const { pane } = await start(executor, dir, "a", hostile, { colour: 196 });
    await until(async () => (await executor.capture("a@team", 1)) === "ready", "the program");
    expect(sessionOf(emulator, pane)?.name()).toBe("a");
    expect(sessionOf(emulator, pane)?.profile).toMatchObject({
      "Use Tab Color": true,
      "Tab Color": { "Red Component": 1, "Green Component": 0, "Blue Component": 0 },
    });
    await executor.showState("a@team", "waits\n\u001b[31m for \\(mail)");
    expect(sessionOf(emulator, pane)?.name()).toBe("a: waits [31m for /(mail)");
    expect(sessionOf(emulator, emulator.session)?.name()).toBe("Default");
  });

  it("runs what it was asked to, whatever shell, start files or directory the person has", async () => {
    const emulator = await emulatorOf({ shell: ["/bin/sh", "-c", "sleep 300"] });
    const dir = path.join(temporaryDirectory(), "a b\\(session.name)'\"\\n");
    fs.mkdirSync(dir);
    const executor = executorOf(emulator, dir);
    await start(executor, dir, "a");
    for (const { name, request } of emulator.requests)
      if (name === "split_pane") {
        const command = request.custom_profile_properties.find(
          ({ key }: { key: string }) => key === "Command",
        );
        expect(JSON.parse(command.json_value)).toMatch(/^\/bin\/sh [\w./-]+$/);
      }
  });

  it("tells a start that fails at once, eight times, with what it showed", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir, { settleMs: 5_000 });
    for (let round = 0; round < 8; round++) {
      const config = teammateConfig(dir, "a", ["/bin/sh", "-c", `echo round ${round}; exit 3`]);
      const result = await executor.spawn(config);
      expect(result).toMatchObject({ ok: false, code: "exited", screen: `round ${round}` });
      expect(readExit(config.runDir)?.exitCode).toBe(3);
    }
    expect(tabsOf(emulator)).toEqual([1]);
  });

  it("comes before the person when asked for", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const { pane } = await start(executor, dir, "a", undefined, {
      placement: { ...tiled, layout: "windows" },
    });
    await executor.focus("a@team");
    expect(emulator.panes().find((line) => line.includes(`${pane}`))).toMatch(/shown active$/);
    emulator.app.close(`${pane}`);
    await expect(executor.focus("a@team")).rejects.toMatchObject({ code: "pane-gone" });
  });
});

describe("a pane is closed", () => {
  it("by a person without a question, and ends its program then and there", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const { pane } = await start(executor, dir, "a");
    expect(sessionOf(emulator, pane)?.profile["Session Close Undo Timeout"]).toBe(0);
    const client = await connectClient(emulator.socket, goodHeaders(emulator.cookies.issue()));
    expect(await client.ask("close", { sessions: { session_ids: [pane] } })).toMatchObject({
      statuses: ["OK"],
    });
    await until(async () => (await executor.isActive("a@team")) === "gone", "the end of its program");
  });

  it("only with our mark on it", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const ref = await start(executor, dir, "a");
    expect(await executor.adopt({ ...ref, pane: emulator.session })).toBe(true);
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(emulator.panes().join()).toContain(emulator.session);
    // What it really had is closed once it is known again, although its program has ended.
    expect(await executor.adopt(ref)).toBe(false);
    await executor.kill("a@team");
    expect(tabsOf(emulator)).toEqual([1]);
  });

  it("later, if iTerm2 keeps it; the program has ended all the same, and that is told", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const notes: string[] = [];
    const executor = executorOf(emulator, dir, { onNote: (text) => notes.push(text) });
    await start(executor, dir, "a");
    emulator.faults.declinesClose = true;
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(notes.join()).toMatch(/a@team has ended, but its pane may be open still/);
    emulator.faults.declinesClose = false;
    await executor.kill("a@team");
    expect(tabsOf(emulator)).toEqual([1]);
  });

  it("also where iTerm2 does not find it any more once its program has ended", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    emulator.faults.forgetsEnded = true;
    await start(executor, dir, "a", ["/bin/sh", "-c", "echo bye"]);
    await until(async () => (await executor.isActive("a@team")) === "gone", "the end");
    expect(await executor.capture("a@team", 1)).toBe("bye");
    await executor.kill("a@team");
    expect(tabsOf(emulator)).toEqual([1]);
  });

  it("not by an iTerm2 that hangs: that costs the time of an answer, and is told", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const notes: string[] = [];
    const executor = executorOf(emulator, dir, { answerMs: 300, onNote: (text) => notes.push(text) });
    await start(executor, dir, "a");
    emulator.faults.before = () => "ignore";
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(await executor.isActive("a@team")).toBe("gone");
    expect(notes.join()).toMatch(/did not answer/);
    delete emulator.faults.before;
    await executor.kill("a@team");
    expect(tabsOf(emulator)).toEqual([1]);
  });
});
