import { describe, expect, it } from "vitest";
import type { TreeMember } from "../../backends/process-tree.js";
import type { KillReport, TeammateExecutor } from "../../backends/types.js";
import { killKeeping } from "../../src/team/kill-keeping.js";
import { type ProcessIdentity, selfIdentity } from "../../src/util/process-identity.js";
import { createExecutorDouble } from "../helpers/executor-double.js";

const none: KillReport = { found: [], ended: [], survivors: [] };
const double = createExecutorDouble({ deliver: async () => undefined });

function member(command: string, identity: ProcessIdentity): TreeMember {
  return { pid: identity.pid, command, identity, holdsRoot: false, leads: false };
}

const runs = member("server", selfIdentity());
const gone = member("watcher", { ...selfIdentity(), startTime: "1" });

describe("ending all but some", () => {
  it("tells who of them is gone in the end, once, also where it was gone before", async () => {
    const executor: TeammateExecutor = {
      ...double,
      async killExcept(_, keep) {
        expect(keep).toEqual([runs.identity, gone.identity, gone.identity]);
        return { ...none, kept: [{ pid: runs.pid, command: this.type }] };
      },
    };
    const kept = [{ pid: runs.pid, command: "in-process" }];
    const lost = [{ pid: gone.pid, command: "watcher" }];
    expect(await killKeeping(executor, "ada", [runs, gone, gone])).toEqual({ ...none, kept, lost });
  });

  it("ends nothing where the backend cannot tell them apart", async () => {
    let ends = 0;
    const executor: TeammateExecutor = {
      ...double,
      async kill() {
        ends++;
        return none;
      },
    };
    delete executor.killExcept;
    await expect(killKeeping(executor, "ada", [runs])).rejects.toMatchObject({ code: "keep-unsupported" });
    expect(ends).toBe(0);
    expect(await killKeeping(executor, "ada", [])).toEqual(none);
    expect(ends).toBe(1);
  });
});
