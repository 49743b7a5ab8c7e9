import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { builtCommand } from "../helpers/built.js";
import { temporaryDirectory } from "../helpers/temp.js";

const root = path.join(import.meta.dirname, "../..");
const page = fs.readFileSync(path.join(root, "docs/mailbox-library.md"), "utf8");

beforeAll(async () => void (await builtCommand()), 180_000);

/** An empty directory but for the package as it is published, installed without what it might depend on. */
function projectWithPackage(): string {
  const project = temporaryDirectory();
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", project];
  const tarball = execFileSync("npm", pack, { cwd: root, encoding: "utf8" }).trim();
  const place = path.join(project, "node_modules/troupe");
  fs.mkdirSync(place, { recursive: true });
  execFileSync("tar", ["xzf", path.join(project, tarball), "-C", place, "--strip-components=1"]);
  return project;
}

function run(project: string, source: string, ...args: string[]) {
  const file = path.join(project, "program.mjs");
  fs.writeFileSync(file, source);
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...args], {
    cwd: project,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { lines: stdout.split("\n").slice(0, -1), stderr, status };
}

describe("the package's mailbox", { timeout: 120_000 }, () => {
  test("does what its page shows, alone, and says nothing itself", () => {
    const project = projectWithPackage();
    const example = page.split("```js example.mjs\n")[1]?.split("```")[0] ?? "";
    expect(run(project, example, path.join(project, "mail/reader"))).toEqual({
      lines: ["stored", "true", "script: look at src/auth first", "seen"],
      stderr: "",
      status: 0,
    });
  });

  test("has what the page names, its schema, and nothing open after the end", () => {
    const project = projectWithPackage();
    const source = `
      import fs from "node:fs";
      import { createRequire } from "node:module";
      const before = process.getActiveResourcesInfo();
      const listeners = process.eventNames();
      const globals = Object.keys(globalThis);
      const library = await import("troupe/mailbox");
      const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
      const dir = process.argv[2];
      await library.createMailbox(dir);
      const mailbox = library.openMailbox(dir);
      const reader = library.readMailbox(mailbox, { onMessage() {} });
      const watcher = library.watchMailbox(dir, () => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
      console.log(process.getActiveResourcesInfo().length > before.length);
      reader.close();
      await reader.closed;
      await watcher.close();
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      console.log(process.getActiveResourcesInfo().filter((name) => !/^(TTYWrap|PipeWrap|Immediate)$/.test(name)).join());
      console.log(same(process.eventNames(), listeners) && same(Object.keys(globalThis), globals));
      console.log(createRequire(import.meta.url)("troupe/mailbox/message.schema.json").$schema);
      console.log(Object.keys(library).join(" "));`;
    const { lines, stderr, status } = run(project, source, path.join(project, "mail/reader"));
    expect({ lines: lines.slice(0, 4), stderr, status }).toEqual({
      lines: ["true", "", "true", "https://json-schema.org/draft/2020-12/schema"],
      stderr: "",
      status: 0,
    });
    const names = page.split("## What there is")[1]?.split("## The schema")[0] ?? "";
    const named = [...names.matchAll(/`(\w+)(?:\([^`]*)?`/g)].map(([, name]) => name);
    const members = ["deliver", "broadcast", "acknowledge", "release", "counts", "onTrouble"];
    const exported = lines[4]?.split(" ");
    const functions = named.filter((name) => /[A-Z]/.test(name ?? "") && !members.includes(name ?? ""));
    expect(functions.length).toBeGreaterThan(10);
    expect(functions.filter((name) => !exported?.includes(name ?? ""))).toEqual([]);
  });
});
