import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { builtCommand } from "../../helpers/built.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { emulatorOf } from "../../iterm2-emulator/api-client.js";
import { executorOf, optionsFor, start } from "./support.js";

const root = path.resolve(import.meta.dirname, "../../..");

it("what only iTerm2 needs is loaded only by its own client, and late", () => {
  const files = ["src", "mailbox", "backends"].flatMap((room) =>
    fs
      .readdirSync(path.join(root, room), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") || file.endsWith(".tsx"))
      .map((file) => path.join(room, file)),
  );
  const mentions = files.flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), "utf8");
    const lines = text.split("\n").filter((line) => /["'](ws|protobufjs\b[^"']*)["']/.test(line));
    return lines.map((line) => [file, /^import type |\bimport\("/.test(line)]);
  });
  expect(mentions).toEqual([
    ["backends/iterm2/connection.ts", true],
    ["backends/iterm2/connection.ts", true],
    ["backends/iterm2/messages.ts", true],
    ["backends/iterm2/messages.ts", true],
  ]);
});

it("what is built finds them", { timeout: 120_000 }, async () => {
  const dist = path.dirname(await builtCommand());
  const built: typeof import("../../../backends/index.js") = await import(path.join(dist, "backends.js"));
  const emulator = await emulatorOf();
  const executor = executorOf(emulator, temporaryDirectory());
  const ref = await start(executor, temporaryDirectory(), "a");
  const other = built.createIterm2Executor(optionsFor(emulator, temporaryDirectory()));
  expect(await other.isAvailable()).toMatchObject({ code: "ok" });
  expect(await other.adopt(ref)).toBe(true);
  expect((await other.kill("a@team")).survivors).toEqual([]);
  await other.close();
});
