import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { connectHost } from "../../../src/team/host/client.js";
import { makeLivingTeam } from "../living-team.js";

const listenAndHang = `
require("net").createServer().listen(process.argv[1], () => {
  process.stdout.write("listening");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
});`;

it("meets no host where one goes that had not accepted the connection", async () => {
  const { paths } = await makeLivingTeam();
  const host = spawn(process.execPath, ["-e", listenAndHang, paths.socket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(host.stdout, "data");
  const connecting = connectHost(paths);
  // In the same turn of the event loop: the connection is made, but not yet known to be.
  host.kill("SIGKILL");
  execFileSync("/bin/sh", [
    "-c",
    `while kill -0 ${host.pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/${host.pid}/status; do :; done`,
  ]);
  expect(await connecting).toBeUndefined();
});
