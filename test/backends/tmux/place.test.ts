import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createTmuxClient } from "../../../backends/tmux/client.js";
import { serverIdentity } from "../../../backends/tmux/place.js";
import { identityOf } from "../../../src/util/process-identity.js";
import { tmuxProgram } from "../../helpers/tmux.js";

describe("the process of a server", () => {
  const client = createTmuxClient({ program: tmuxProgram, socket: "/run/host/tmux", env: {} });

  it("is refused where it cannot be seen from here, as from inside a container", () => {
    const { pid } = spawnSync("true");
    expect(() => serverIdentity(client, pid)).toThrow(
      expect.objectContaining({
        code: "tmux-out-of-reach",
        kind: "unavailable",
        message: `the tmux server on /run/host/tmux (pid ${pid}) does not run on this side of a container`,
        remedy: "start troupe where the tmux server runs, or use --backend in-process",
      }),
    );
    expect(serverIdentity(client, process.pid)).toEqual(identityOf(process.pid));
  });
});
