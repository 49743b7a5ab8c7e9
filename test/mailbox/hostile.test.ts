import { execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openMailbox, readMailbox } from "../../mailbox/index.js";
import { encodeMessage } from "../../mailbox/message.js";
import { type Fate, hostileFiles, oddThings, plantHostile, type Surroundings } from "./hostile-files.js";
import { eventually, letter, plant, quickDirectory, quickMailbox } from "./support.js";

async function makeSurroundings(place: string): Promise<Surroundings> {
  fs.mkdirSync(place);
  const at = (name: string) => path.join(place, name);
  const message = letter();
  fs.writeFileSync(at("outside"), "not yours", { mode: 0o640 });
  fs.writeFileSync(at("mail"), encodeMessage(message));
  execFileSync("mkfifo", [at("fifo")]);
  const server = net.createServer().listen(at("bound"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  fs.linkSync(at("bound"), at("socket"));
  return { outside: at("outside"), mail: at("mail"), fifo: at("fifo"), socket: at("socket") };
}

/** All that could have changed in a directory: names, contents, modes. */
function everythingIn(directory: string): unknown[] {
  return fs
    .readdirSync(directory)
    .sort()
    .map((name) => {
      const file = path.join(directory, name);
      const { mode, size, mtimeMs } = fs.lstatSync(file);
      return { name, mode, size, mtimeMs };
    });
}

describe("ten thousand hostile files", () => {
  test("leave the mail between them, the reader and the world outside as they are", {
    timeout: 120_000,
  }, async () => {
    const place = quickDirectory();
    const dir = await quickMailbox(place);
    const surroundings = await makeSurroundings(path.join(place, "outside"));
    const files = hostileFiles(10_000, 7);
    const whose = (fate: Fate) => files.filter((file) => file.fate === fate);
    // The generator is worth its name.
    for (const fate of ["good", "bad", "newer", "ignored"] as const)
      expect(whose(fate).length).toBeGreaterThan(50);
    expect(new Set(files.flatMap(({ content }) => ("thing" in content ? content.thing : [])))).toEqual(
      new Set(oddThings),
    );

    const expected = whose("good").map(({ id }) => id);
    for (const [n, { name, content }] of files.entries()) {
      plantHostile(Buffer.concat([Buffer.from(path.join(dir, "new/")), name]), content, surroundings);
      if (n % 25 !== 0) continue;
      const message = letter();
      plant(dir, "new", `${message.id}.json`, encodeMessage(message));
      expected.push(message.id);
    }
    const outside = path.dirname(surroundings.outside);
    const before = everythingIn(outside);

    const box = openMailbox(dir);
    const got: string[] = [];
    const told: { type: string; file: string; reason: string }[] = [];
    const troubles: string[] = [];
    const reader = readMailbox(
      box,
      {
        onMessage({ id }) {
          got.push(id);
          box.acknowledge([id]);
        },
        onProblem: (problem) => void told.push(problem),
        onTrouble: ({ code }) => void troubles.push(code),
      },
      { sweepMs: 200 },
    );
    onTestFinished(async () => {
      reader.close();
      await reader.closed;
    });

    const left = [...whose("newer"), ...whose("ignored")].map(({ name }) => name.toString()).sort();
    await expect
      .poll(() => fs.readdirSync(path.join(dir, "new")).length, { timeout: 90_000 })
      .toBe(left.length);
    const last = letter({ text: "still there" });
    await box.send(last);
    await eventually(() => got.at(-1)).toBe(last.id);

    expect(got.toSorted()).toEqual([...expected, last.id].toSorted());
    expect(fs.readdirSync(path.join(dir, "new")).sort()).toEqual(left);
    const named = (fate: Fate) => whose(fate).map(({ name }) => `${fate} ${name}`);
    expect(told.map(({ type, file }) => `${type} ${file}`).sort()).toEqual(
      [...named("bad"), ...named("newer")].sort(),
    );
    expect(troubles).toEqual([]);
    for (const { reason } of told) expect(reason).toMatch(/^[^\u0000-\u001f\u007f-\u009f]{1,1000}$/u);

    const bad = fs.readdirSync(path.join(dir, "bad"));
    const present = new Set(bad);
    const reasons = new Set(bad.map((name) => `${name}.reason`).filter((name) => present.has(name)));
    expect(reasons.size).toBe(whose("bad").length);
    expect(bad.filter((name) => reasons.has(`${name}.reason`))).toHaveLength(whose("bad").length);
    expect(bad.filter((name) => !/^[0-9A-Za-z._~-]+$/.test(name))).toEqual([]);
    expect(box.counts()).toMatchObject({ tmp: 0, cur: 0 });
    expect(everythingIn(outside)).toEqual(before);
  });
});
