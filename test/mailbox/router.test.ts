import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createMailbox, openMailbox, openRouter, type Router } from "../../mailbox/index.js";
import { bundleScript } from "../helpers/bundle.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { eventually, letter } from "./support.js";

async function routerFor(names: string[], options = {}): Promise<{ root: string; router: Router }> {
  const root = path.join(temporaryDirectory(), "mail");
  const router = openRouter(root, options);
  for (const name of names) await createMailbox(router.mailboxOf(name));
  return { root, router };
}

const mailOf = (router: Router, name: string) =>
  openMailbox(router.mailboxOf(name))
    .peek()
    .messages.map(({ message }) => message);

const refuse = () => {
  throw Object.assign(new Error("EXDEV"), { code: "EXDEV" });
};

describe("delivering", () => {
  test("finds a mailbox by any spelling of the name, and by no other name", async () => {
    const { root, router } = await routerFor(["Straße", "ΟΔΟΣ", "a"]);
    const [one, two] = [letter(), letter()];
    await router.deliver("STRASSE", one);
    router.deliverSync("οδοσ", two);
    expect(mailOf(router, "straße")).toEqual([one]);
    expect(mailOf(router, "οδος")).toEqual([two]);
    const gone = expect.objectContaining({
      code: "no-mailbox",
      kind: "not-found",
      message: expect.stringContaining('"b"'),
    });
    await expect(router.deliver("b", one)).rejects.toThrow(gone);
    expect(() => router.deliverSync("b", one)).toThrow(gone);
    await expect(router.deliver("../a", one)).rejects.toThrow(/no mailbox/);
    expect(fs.readdirSync(root)).toHaveLength(3);
    expect(router.names()).toEqual(["a", "strasse", "οδοσ"]);
  });

  test("lists no names where there is no mail yet", () => {
    expect(openRouter(path.join(temporaryDirectory(), "mail")).names()).toEqual([]);
  });
});

describe.each([
  ["by links", {}],
  ["by copies where links fail", { link: refuse }],
])("broadcasting %s", (_, options) => {
  test("tells how it went for each, and leaves nothing behind", async () => {
    const { root, router } = await routerFor(["a", "b"], options);
    const [one, two] = [letter({ to: "*" }), letter({ to: "*" })];
    const outcomes = [
      { name: "b", ok: true, duplicate: false },
      { name: "nobody", ok: false, error: { code: "no-mailbox" } },
      { name: "a", ok: true, duplicate: false },
    ];
    expect(await router.broadcast(["b", "nobody", "a"], one)).toMatchObject(outcomes);
    expect(router.broadcastSync(["b", "nobody", "a"], two)).toMatchObject(outcomes);
    for (const name of ["a", "b"]) expect(mailOf(router, name)).toEqual([one, two]);
    expect(fs.readdirSync(path.join(root, ".out"))).toEqual([]);
    expect(openMailbox(router.mailboxOf("a")).counts()).toMatchObject({ tmp: 0 });
    const again = [{ name: "a", ok: true, duplicate: true }];
    expect(await router.broadcast(["a"], one)).toEqual(again);
    expect(router.broadcastSync(["a"], one)).toEqual(again);
  });

  test("keeps its place among what is sent to one recipient", async () => {
    const order: string[] = [];
    const { router } = await routerFor(["a"], options);
    const watcher = fs.watch(path.join(router.mailboxOf("a"), "new"), (_event, name) => {
      if (name?.endsWith(".json") && !order.includes(name)) order.push(name);
    });
    try {
      const messages = Array.from({ length: 20 }, () => letter());
      await Promise.all(
        messages.map((message, n) =>
          n % 3 === 0 ? router.broadcast(["a"], message) : router.deliver("a", message),
        ),
      );
      await eventually(() => order).toHaveLength(messages.length);
      expect(order).toEqual(messages.map(({ id }) => `${id}.json`));
    } finally {
      watcher.close();
    }
  });
});

test("a broadcast that cannot be written is told for each recipient", async () => {
  const { root, router } = await routerFor(["a", "b"]);
  fs.writeFileSync(path.join(root, ".out"), "in the way");
  for (const outcomes of [
    await router.broadcast(["a", "b"], letter()),
    router.broadcastSync(["a", "b"], letter()),
  ])
    expect(outcomes).toMatchObject([
      { name: "a", ok: false },
      { name: "b", ok: false },
    ]);
});

test("sends to more mailboxes at once than a process may open files", { timeout: 60_000 }, async () => {
  const root = path.join(temporaryDirectory(), "mail");
  const script = bundleScript(path.join(import.meta.dirname, "processes/broadcaster.ts"));
  const limited = 'ulimit -n 64 && exec "$0" "$@"';
  const args = ["-c", limited, process.execPath, script, root, "100"];
  const { stdout } = await promisify(execFile)("/bin/sh", args);
  expect(JSON.parse(stdout)).toEqual([]);
  const { names, mailboxOf } = openRouter(root);
  expect(names()).toHaveLength(100);
  for (const name of names()) expect(openMailbox(mailboxOf(name)).counts()).toMatchObject({ new: 2, tmp: 0 });
});
