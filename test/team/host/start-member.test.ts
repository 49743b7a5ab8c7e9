import { describe, expect, it } from "vitest";
import type { TeammateExecutor } from "../../../backends/types.js";
import type { HostContext } from "../../../src/team/host/context.js";
import { startMember } from "../../../src/team/host/start-member.js";
import { memberRunDir } from "../../../src/team/paths.js";
import { readAgentSpec, specFile } from "../../../src/team/runtime/agent-spec.js";
import { selfIdentity } from "../../../src/util/process-identity.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

const agents = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `mate${n}`, agent: "Explore", model: "offline" }));

/** A host whose members get panes, in a double that opens each of them only when `open` is called. */
async function panes(size: number) {
  const context = await hostContext(await makeLivingTeam({ agents: [] }), { limits: { teammates: size } });
  const opened: (() => void)[] = [];
  const names: string[] = [];
  let most = 0;
  let now = 0;
  let life: "alive" | "gone" = "alive";
  const executor: TeammateExecutor = {
    ...context.executors.members,
    type: "tmux",
    async spawn(config) {
      most = Math.max(most, ++now);
      names.push(config.name);
      await new Promise<void>((resolve) => opened.push(resolve));
      now--;
      const process = selfIdentity();
      const { agentId, runDir } = config;
      return { ok: true, pid: process.pid, ref: { backend: "tmux", agentId, runDir, process } };
    },
    isActive: async () => life,
    capture: async () => "the last lines",
  };
  const host: HostContext = { ...context, executorFor: () => executor };
  const incarnation = (name: string) => context.roster.find(name)?.incarnation ?? "";
  return {
    host,
    opened,
    greet: (from: number, to: number) => {
      for (const name of names.slice(from, to)) host.greeted.add(incarnation(name));
    },
    most: () => most,
    dies: () => {
      life = "gone";
    },
  };
}

describe("agents in processes of their own", () => {
  it("start so many at a time, each slot held until one has said hello, and all have their names at once", async () => {
    const { host, opened, greet, most } = await panes(5);
    const specs = agents(5);
    const started = Promise.all(specs.map((spec) => startMember(host, spec)));
    expect(specs.every(({ name }) => host.roster.find(name)?.state === "starting")).toBe(true);
    for (let n = 0; n < specs.length; n++) {
      await until(() => opened.length > n, "a pane");
      opened[n]?.();
      if (n % 2 === 0) continue;
      // Both slots are held by agents that have not said hello yet.
      expect(opened).toHaveLength(n + 1);
      greet(n - 1, n + 1);
    }
    greet(4, 5);
    expect((await started).map(({ name }) => name)).toEqual(specs.map(({ name }) => name));
    expect(most()).toBe(2);
  });

  it("have failed to start where they end before they say hello", async () => {
    const { host, opened, dies } = await panes(1);
    const started = startMember(host, agents(1)[0]!);
    await until(() => opened.length > 0, "a pane");
    dies();
    opened[0]?.();
    await expect(started).rejects.toThrow(
      /mate0 did not start: it ended before it said hello: the last lines/,
    );
    expect(host.roster.find("mate0")).toMatchObject({ state: "ended", reason: "failed" });
  });

  it("that wait for a slot are given up with the team", async () => {
    const { host, opened } = await panes(3);
    const started = Promise.allSettled(agents(3).map((spec) => startMember(host, spec)));
    await until(() => opened.length === 2, "two panes");
    host.starting.abort(new Error("the team is ending"));
    for (const open of opened) open();
    const outcomes = await started;
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(opened).toHaveLength(2);
  });
});

describe("the description of an agent", () => {
  const colleaguesIn = async (size: number, name: string) => {
    const context = await hostContext(await makeLivingTeam({ agents: [] }), { limits: { teammates: size } });
    const specs = agents(size);
    await Promise.all(specs.map((spec) => startMember(context, spec)));
    const incarnation = context.roster.find(name)?.incarnation ?? "";
    return readAgentSpec(specFile(memberRunDir(context.paths, incarnation)));
  };

  it("names the others, those too that start after it", async () => {
    const spec = await colleaguesIn(3, "mate0");
    expect(spec.colleagues).toEqual([
      { name: "mate1", what: "Explore" },
      { name: "mate2", what: "Explore" },
    ]);
    expect(spec.furtherColleagues).toBe(0);
  });

  it("names some of many, and says how many more there are", async () => {
    const spec = await colleaguesIn(60, "mate59");
    expect(spec.colleagues).toHaveLength(30);
    expect(spec.furtherColleagues).toBe(29);
  });
});
