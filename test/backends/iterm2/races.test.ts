import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runIdOf } from "../../../backends/environment.js";
import { findTree } from "../../../backends/process-tree.js";
import { liveness } from "../../../src/util/process-identity.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { until } from "../../helpers/until.js";
import { emulatorOf } from "../../iterm2-emulator/api-client.js";
import type { Iterm2Emulator } from "../../iterm2-emulator/emulator.js";
import { executorOf, start } from "./support.js";

const placement = { layout: "tiled", leadWidth: 40, maxPanesPerWindow: 4 } as const;

/** The ids of the panes there are but for the first. */
const others = ({ panes, session }: Iterm2Emulator): string[] =>
  panes()
    .flatMap((pane) => pane.split(" ")[2] ?? [])
    .filter((id) => id !== session);

/** Ends the connection at the first request of this name, before or after it was done. */
function dropAt({ faults, drop }: Iterm2Emulator, request: string, when: "before" | "after"): void {
  faults[when] = (name) => {
    if (name !== request) return undefined;
    delete faults[when];
    drop();
    return "ignore";
  };
}

describe("when the connection ends", () => {
  it.each(["split_pane", "variable", "set_profile_property", "get_buffer"])(
    "after %s was done, the start goes on over another",
    async (request) => {
      const emulator = await emulatorOf();
      const dir = temporaryDirectory();
      const executor = executorOf(emulator, dir);
      dropAt(emulator, request, "after");
      const ref = await start(executor, dir, "a");
      expect(await executor.capture("a@team", 1)).toBe("");
      expect(others(emulator)).toEqual([ref.pane]);
      expect(emulator.connections()).toBe(2);
    },
  );

  it("before a pane was opened, the start fails, and nothing is left that could begin later", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    dropAt(emulator, "split_pane", "before");
    const config = teammateConfig(dir, "a", ["sleep", "300"]);
    expect(await executor.spawn(config)).toMatchObject({ ok: false, code: "backend-failed" });
    expect(others(emulator)).toEqual([]);
    expect(fs.existsSync(path.join(config.runDir, "launch.sh"))).toBe(false);
    await start(executor, dir, "a");
  });

  it("for good while a pane is opened, that is closed as soon as iTerm2 answers again", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const notes: string[] = [];
    const executor = executorOf(emulator, dir, { onNote: (text) => notes.push(text) });
    emulator.faults.after = async (name) => {
      if (name !== "split_pane") return undefined;
      delete emulator.faults.after;
      await emulator.switchOff();
      return "ignore";
    };
    const config = teammateConfig(dir, "a", ["sleep", "300"]);
    expect(await executor.spawn(config)).toMatchObject({ ok: false, code: "backend-failed" });
    expect(findTree({ runId: runIdOf(config.runDir) })).toEqual([]);
    await emulator.switchOn();
    const { pane } = await start(executor, dir, "b");
    expect(others(emulator)).toEqual([pane]);
  });

  it("teammates run on, and are ended and closed over another", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    await start(executor, dir, "a");
    await emulator.switchOff();
    expect(await executor.isActive("a@team")).toBe("alive");
    await executor.showState("a@team", "idle");
    expect(await executor.capture("a@team", 5)).toBe("");
    await emulator.switchOn();
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(others(emulator)).toEqual([]);
  });
});

describe("when a person closes panes", () => {
  it("just as one opens, its start fails or is undone, and the next is not kept from starting", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    emulator.faults.after = (name) => {
      if (name !== "split_pane") return undefined;
      delete emulator.faults.after;
      for (const id of others(emulator)) emulator.app.close(id);
      return undefined;
    };
    const config = teammateConfig(dir, "a", ["sleep", "300"]);
    const result = await executor.spawn(config);
    if (result.ok) await executor.kill("a@team");
    else expect(["backend-failed", "exited"]).toContain(result.code);
    await until(() => findTree({ runId: runIdOf(config.runDir) }).length === 0, "the end of its processes");
    await start(executor, dir, "b");
    expect(others(emulator)).toHaveLength(1);
  });

  it("between the look and the split, another is divided", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const { pane } = await start(executor, dir, "a", undefined, { placement });
    emulator.faults.before = (name) => {
      if (name !== "split_pane") return undefined;
      delete emulator.faults.before;
      emulator.app.close(`${pane}`);
      return undefined;
    };
    const second = await start(executor, dir, "b", undefined, {
      placement: { ...placement, layout: "main-vertical" },
    });
    expect(others(emulator)).toEqual([second.pane]);
    await until(async () => (await executor.isActive("a@team")) === "gone", "the end of the other");
  });

  it("one that is closed already is ended and forgotten", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const executor = executorOf(emulator, dir);
    const ref = await start(executor, dir, "a", [
      "/bin/sh",
      "-c",
      "trap '' HUP TERM; while :; do sleep 1; done",
    ]);
    emulator.app.close(`${ref.pane}`);
    expect(await executor.isActive("a@team")).toBe("alive");
    const report = await executor.kill("a@team");
    expect(report.survivors).toEqual([]);
    expect(report.forced).toBe(true);
    expect(liveness(ref.process!)).toBe("gone");
    expect(others(emulator)).toEqual([]);
  });
});

describe("ten at once", () => {
  it("from two hosts get ten panes in tabs with room, and the focus stays", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const hosts = [executorOf(emulator, dir), executorOf(emulator, dir)];
    const refs = await Promise.all(
      [..."abcdefghij"].map((name, index) => start(hosts[index % 2]!, dir, name, undefined, { placement })),
    );
    expect(new Set(refs.map(({ pane }) => pane)).size).toBe(10);
    expect(others(emulator).sort()).toEqual(refs.map(({ pane }) => pane).sort());
    const tabs = emulator.app.windows.flatMap(({ tabs }) => tabs.map(({ tree }) => tree.leaves().length));
    expect(tabs).toEqual([4, 4, 3]);
    expect(emulator.panes()[0]).toMatch(/shown active$/);
    await Promise.all([..."abcdefghij"].map((name, index) => hosts[index % 2]!.kill(`${name}@team`)));
    expect(others(emulator)).toEqual([]);
  });
});
