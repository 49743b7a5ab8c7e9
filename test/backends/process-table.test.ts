import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { nextTable } from "../../backends/process-table.js";

it("one look serves all who ask in a turn, and sees what was started after they asked", async () => {
  const asked = nextTable();
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  try {
    expect(nextTable()).toBe(asked);
    expect((await asked).rows.map(({ pid }) => pid)).toContain(child.pid);
    expect(nextTable()).not.toBe(asked);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
