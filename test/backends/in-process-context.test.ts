import { execFileSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { createMailbox, openMailbox, readMailbox } from "../../mailbox/index.js";
import { newMessageId } from "../../mailbox/message-id.js";
import { currentIdentity, failCurrent } from "../../src/util/context.js";
import { delay } from "../../src/util/wait.js";
import { bundleScript } from "../helpers/bundle.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";

const me = () => currentIdentity()?.agentId ?? "nobody";
const agentLaunch = { launch: { kind: "agent", argv: ["unused"] } } as const;

it("a failure that nobody caught ends the teammate in whose work it came up, and no other", () => {
  const script = bundleScript(path.join(import.meta.dirname, "processes/uncaught.ts"));
  expect(JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8", timeout: 20_000 }))).toEqual(
    {
      ends: {
        "timer@team": "1 in a timer",
        "promise@team": "1 in a promise",
        "emitter@team": "1 behind a file",
      },
      calm: "alive",
      unclaimed: ["nobody's"],
    },
  );
  expect(failCurrent(new Error("outside of any"))).toBe(false);
});

it("a thousand teammates at once know who they are, wherever they are called back", {
  timeout: 60_000,
}, async () => {
  const dir = temporaryDirectory();
  const askers: ((answer: string) => void)[] = [];
  const wrong: string[] = [];
  let asked = 0;
  const executor = createInProcessExecutor({
    deliver: async () => undefined,
    async run({ agentId }, started, signal) {
      const check = (where: string): void => {
        if (me() !== agentId) wrong.push(`${agentId} ${where}: ${me()}`);
      };
      started();
      await delay(1);
      check("behind a timer");
      await Promise.all([fs.promises.stat(dir), new Promise((resolve) => setImmediate(resolve))]);
      check("behind a file");
      const own = new EventEmitter().on("news", () => check("in an emitter"));
      setTimeout(() => own.emit("news"), 1);
      await once(own, "news");
      check("behind an emitter");
      // As a permission's asker is called back by whoever answers.
      const answer = await new Promise<string>((resolve) => {
        askers.push(resolve);
        asked++;
      });
      check(`behind the answer ${answer}`);
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const names = Array.from({ length: 1000 }, (_, n) => `mate${n}`);
  const results = await Promise.all(
    names.map((name) => executor.spawn(teammateConfig(dir, name, ["unused"], agentLaunch))),
  );
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  while (asked < names.length) await delay(5);
  for (const answer of askers) answer("yes");
  await delay(5);
  const reports = await Promise.all(names.map((name) => executor.kill(`${name}@team`)));
  expect(reports.flatMap(({ survivors }) => survivors)).toEqual([]);
  expect(wrong).toEqual([]);
  expect(me()).toBe("nobody");
});

it("a mailbox's reader, and a teammate that another one starts, are called back as who they are", async () => {
  const dir = temporaryDirectory();
  const mail = path.join(dir, "mail");
  await createMailbox(mail);
  const seen: string[] = [];
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const executor = createInProcessExecutor({
    deliver: async () => undefined,
    async run({ name }, started, signal) {
      started();
      if (name === "inner") {
        await delay(1);
        seen.push(`inner is ${me()}`);
        const mailbox = openMailbox(mail);
        const reader = readMailbox(mailbox, {
          onMessage({ id }) {
            seen.push(`mail to ${me()}`);
            mailbox.acknowledge([id]);
            finish();
          },
        });
        signal.addEventListener("abort", () => reader.close());
        await reader.closed;
        return;
      }
      await executor.spawn(teammateConfig(dir, "inner", ["unused"], agentLaunch));
      seen.push(`outer is ${me()}`);
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  await executor.spawn(teammateConfig(dir, "outer", ["unused"], agentLaunch));
  const sentAt = new Date().toISOString();
  const id = newMessageId();
  await openMailbox(mail).send({ v: 1, id, from: "user", to: "inner", sentAt, kind: "text", text: "hello" });
  await finished;
  await Promise.all(["outer", "inner"].map((name) => executor.kill(`${name}@team`)));
  expect(seen.sort()).toEqual(["inner is inner@team", "mail to inner@team", "outer is outer@team"]);
});
