import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { listenForMail } from "../../src/team/uds-listen.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { letter } from "../mailbox/support.js";
import { talk } from "./uds-client.js";

it("listens where there are no hard links, and takes the place of nobody alive", async () => {
  const dir = temporaryDirectory();
  const place = { socket: path.join(dir, "s"), locks: path.join(dir, "locks") };
  fs.mkdirSync(place.locks);
  const { linkSync } = fs;
  const linking = vi.spyOn(fs, "linkSync").mockImplementation((from, to) => {
    if (to === place.socket)
      throw Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" });
    linkSync(from, to);
  });
  onTestFinished(() => linking.mockRestore());
  const listen = () => listenForMail(place, async ({ id }) => ({ id, duplicate: false }));
  const listener = await listen();
  expect(await talk(place.socket, `${JSON.stringify(letter())}\n`, { lines: 1 })).toMatchObject([
    { ok: true },
  ]);
  await expect(listen()).rejects.toMatchObject({ code: "socket-taken" });
  expect(fs.statSync(place.socket).mode & 0o777).toBe(0o600);
  await listener.close();
  expect(fs.readdirSync(dir)).toEqual(["locks"]);
});
