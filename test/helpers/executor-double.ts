import type {
  DeliverMessage,
  TeammateExecutor,
  TeammateRef,
  TeammateSpawnResult,
} from "../../backends/types.js";

/** What the double remembers of one teammate. */
interface DoubleLife {
  readonly ref: TeammateRef;
  alive: boolean;
  readonly shown: string;
}

/**
 * An executor in memory, for tests of what is built on executors. It starts no process: `argv` is `["stay"]`,
 * `["say", TEXT]` or `["exit", CODE]`, any other program is missing; an agent stays.
 */
export function createExecutorDouble({ deliver }: { deliver: DeliverMessage }): TeammateExecutor {
  const lives = new Map<string, DoubleLife>();
  const refused = (code: string, reason: string): TeammateSpawnResult => ({
    ok: false,
    code,
    reason,
    screen: "",
  });
  let pid = 1000;
  return {
    type: "in-process",
    isAvailable: async () => ({ available: true, code: "ok", reason: "a double in memory" }),
    async spawn({ agentId, cwd, launch, runDir, env }, signal) {
      const [program = "", argument = ""] = launch.kind === "agent" ? ["stay"] : launch.argv;
      if (lives.get(agentId)?.alive) return refused("already-running", `${agentId} runs already`);
      if ([...launch.argv, ...Object.values(env)].some((word) => word.includes("\0")))
        return refused("nul-in-argument", "an argument holds a NUL character");
      if (cwd.includes("missing")) return refused("cwd-missing", `there is no directory ${cwd}`);
      if (!["stay", "say", "exit"].includes(program))
        return refused("program-missing", `no program ${program}`);
      if (signal?.aborted) return refused("aborted", "the start was given up");
      if (program === "exit" && argument !== "0")
        return refused("exited", `ended with exit code ${argument}`);
      const ref: TeammateRef = { backend: "in-process", agentId, runDir };
      lives.set(agentId, { ref, alive: program !== "exit", shown: program === "say" ? argument : "" });
      return { ok: true, ref, pid: ++pid };
    },
    sendMessage: deliver,
    async terminate(agentId) {
      const life = lives.get(agentId);
      if (life?.alive !== true) return false;
      life.alive = false;
      return true;
    },
    async kill(agentId) {
      const life = lives.get(agentId);
      if (life?.alive !== true) return { found: [], ended: [], survivors: [] };
      life.alive = false;
      const note = { pid: 0, command: agentId };
      return { found: [note], ended: [note], survivors: [] };
    },
    isActive: async (agentId) => (lives.get(agentId)?.alive ? "alive" : "gone"),
    capture: async (agentId) => lives.get(agentId)?.shown ?? "",
  };
}
