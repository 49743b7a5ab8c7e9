import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { RunEmbedded } from "../../../backends/embedded.js";
import { createInProcessExecutor } from "../../../backends/in-process.js";
import { failCurrent } from "../../../src/util/context.js";
import { teammateConfig } from "../../helpers/teammate.js";

// Four embedded teammates in one process, of which three fail outside of their own promise, each in another way. Prints
// who ended how, and who was alive then.
const fates: Readonly<Record<string, () => void>> = {
  timer: () => void setTimeout(() => fail("in a timer"), 5),
  promise: () => void Promise.resolve().then(() => fail("in a promise")),
  emitter: () => void fs.promises.stat("/").then(() => process.nextTick(() => fail("behind a file"))),
  calm: () => undefined,
};

const run: RunEmbedded = async ({ name }, started, signal) => {
  started();
  fates[name]?.();
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
};

function fail(where: string): never {
  throw new Error(where);
}

const unclaimed: string[] = [];
process.on("uncaughtException", (error) => {
  if (!failCurrent(error)) unclaimed.push(error.message);
});

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
try {
  const ends: Record<string, string> = {};
  let settle: () => void = () => undefined;
  const failed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const executor = createInProcessExecutor({
    run,
    deliver: async () => undefined,
    onEnded(agentId, { exitCode }, error) {
      ends[agentId] = `${exitCode} ${error instanceof Error ? error.message : error}`;
      if (Object.keys(ends).length === 3) settle();
    },
  });
  await Promise.all(
    Object.keys(fates).map((name) =>
      executor.spawn(teammateConfig(dir, name, ["unused"], { launch: { kind: "agent", argv: ["unused"] } })),
    ),
  );
  setTimeout(() => fail("nobody's"), 1);
  await failed;
  console.log(JSON.stringify({ ends, calm: await executor.isActive("calm@team"), unclaimed }));
  await executor.kill("calm@team");
} finally {
  fs.rmSync(dir, { recursive: true });
}
