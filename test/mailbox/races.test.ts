import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { encodeMessage, openMailbox, receiptOf } from "../../mailbox/index.js";
import { placeMessage } from "../../mailbox/place.js";
import { storeMessageSync } from "../../mailbox/send.js";
import { letter, names, plant, scratchMailbox } from "./support.js";

/** Lets message `id` move on just before each look into the room where it is: from `new` to `cur` to `done`. */
function moveOnBeforeEachLook(dir: string, id: string): void {
  const places = [`new/${id}.json`, `cur/${id}~1-1.json`, `done/${id}.json`];
  const { renameSync } = fs;
  let at = 0;
  for (const call of ["lstatSync", "readdirSync"] as const) {
    const look = fs[call] as (...args: unknown[]) => unknown;
    const looking = vi.spyOn(fs, call).mockImplementation(((...args: unknown[]) => {
      const [here = "", next] = places.slice(at);
      const watched = [path.join(dir, here), path.dirname(path.join(dir, here))];
      if (next !== undefined && watched.includes(String(args[0]))) {
        renameSync(path.join(dir, here), path.join(dir, next));
        at++;
      }
      return look(...args);
    }) as never);
    onTestFinished(() => looking.mockRestore());
  }
}

describe("a message that moves on before every look", () => {
  test("is never unknown", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    await openMailbox(dir).send(message);
    moveOnBeforeEachLook(dir, message.id);
    expect(receiptOf(dir, message.id)).toBe("seen");
  });

  test("is never stored twice", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    storeMessageSync(dir, message);
    moveOnBeforeEachLook(dir, message.id);
    expect(storeMessageSync(dir, message)).toEqual({ id: message.id, duplicate: true });
    expect(names(dir, "new")).toEqual([]);
  });
});

test("another message that takes the id at the last moment is neither overwritten nor taken for a repeat", async () => {
  const dir = await scratchMailbox();
  const message = letter();
  const other = JSON.stringify({ ...message, text: "another" });
  const link = (from: string, to: string) => {
    plant(dir, "new", `${message.id}.json`, other);
    fs.linkSync(from, to);
  };
  expect(() => storeMessageSync(dir, message, { link })).toThrow(
    expect.objectContaining({ code: "id-taken" }),
  );
  expect(fs.readFileSync(path.join(dir, "new", `${message.id}.json`), "utf8")).toBe(other);
});

test("without links, who finds that another sender holds the lock of the id keeps off", async () => {
  const dir = await scratchMailbox();
  const message = letter();
  const bytes = encodeMessage(message);
  const draft = path.join(dir, "tmp", `${message.id}.mine.json`);
  plant(dir, "tmp", path.basename(draft), bytes);
  plant(dir, "new", `.lock-${message.id}`, "");
  const link = () => {
    throw Object.assign(new Error("refused"), { code: "EPERM" });
  };
  expect(placeMessage(dir, message.id, draft, bytes, { link })).toBe("busy");
  expect(names(dir, "new")).toEqual([`.lock-${message.id}`]);
});
