import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { builtCommand } from "./helpers/built.js";
import { temporaryDirectory } from "./helpers/temp.js";

const root = path.resolve(import.meta.dirname, "..");
const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
const run = promisify(execFile);

beforeAll(async () => {
  await builtCommand();
}, 240_000);

describe("the package", () => {
  it("works where it is installed, with nothing around it", { timeout: 180_000 }, async () => {
    const dir = temporaryDirectory();
    const home = path.join(dir, "home");
    const project = path.join(dir, "project");
    for (const place of [home, project]) fs.mkdirSync(place);
    const env = { ...process.env, HOME: home };

    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", dir];
    const [{ filename, files, unpackedSize }] = JSON.parse(
      (await run("npm", pack, { cwd: root, env })).stdout,
    );
    const paths = files.map((file: { path: string }) => file.path);
    expect(paths).toEqual(
      expect.arrayContaining(["dist/bin.cjs", "LICENSE", "dist/THIRD-PARTY-LICENSES.txt"]),
    );
    expect(
      paths.filter((file: string) => /^(src|test|scripts|mailbox|backends|node_modules)\//.test(file)),
    ).toEqual(["mailbox/message.schema.json"]);
    expect(unpackedSize).toBeLessThan(10_000_000);

    fs.writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "user", private: true }));
    const install = ["install", "--prefer-offline", "--no-audit", "--no-fund", path.join(dir, filename)];
    await run("npm", install, { cwd: project, env });
    const installed = fs
      .readdirSync(path.join(project, "node_modules"))
      .filter((name) => !name.startsWith("."));
    expect(installed.filter((name) => !["troupe", "node-pty", "@vscode", "@lydell"].includes(name))).toEqual(
      [],
    );

    const command = path.join(project, "node_modules/.bin/troupe");
    expect((await run(command, ["--version"], { cwd: project, env })).stdout).toBe(`${version}\n`);
    expect((await run(command, ["--help"], { cwd: project, env })).stdout).toContain("send TO");

    fs.writeFileSync(path.join(project, "use.mjs"), program);
    const { stdout } = await run(process.execPath, ["use.mjs"], { cwd: project, env });
    expect(stdout).toBe(`${version} stored message function\n`);

    fs.writeFileSync(path.join(project, "parts.ts"), usesParts);
    fs.writeFileSync(path.join(project, "engine.ts"), usesEngine);
    const check = (...args: string[]) =>
      run(process.execPath, [tsc, ...strict, ...args], { cwd: project, env }).catch(({ stdout }) => ({
        stdout,
      }));
    expect((await check("--skipLibCheck", "false", "parts.ts")).stdout).toBe("");
    // The engine's own declarations name types of zod and of the SDK, which only those who use them install.
    expect((await check("--skipLibCheck", "engine.ts")).stdout).toBe("");
  });

  it("has a command that is small, since every call reads all of it", () => {
    expect(fs.statSync(path.join(root, "dist/bin.cjs")).size).toBeLessThan(150_000);
  });
});

describe("the file of all commands", () => {
  const commands = (): string => fs.readFileSync(path.join(root, "dist/commands.cjs"), "utf8");

  it("is small, since each teammate in a pane reads all of it, and without the full parser", () => {
    expect(commands().length).toBeLessThan(1_000_000);
    // One character beyond ASCII doubles what the file takes in each process.
    expect(commands().search(/[^\x00-\x7f]/)).toBe(-1);
    expect(commands().search(/yargs/i)).toBe(-1);
  });

  it("finds what it loads late", async () => {
    const late = Array.from(commands().matchAll(/import\("(\.[^"]+)"\)/g), ([, file = ""]) => file);
    const libraries = ["anthropic-sdk", "execa", "protobufjs", "ws"].map((name) => `./vendor/${name}.js`);
    expect(late).toEqual(expect.arrayContaining(libraries));
    for (const file of late) expect(Object.keys(await import(path.join(root, "dist", file)))).not.toEqual([]);
  });
});

const program = `
import fs from "node:fs";
import { version } from "troupe";
import { createMailbox, openMailbox } from "troupe/mailbox";
import * as backends from "troupe/backends";
await createMailbox("box");
const box = openMailbox("box");
const id = "0123456789";
await box.send({ v: 1, id, from: "a", to: "b", sentAt: new Date().toISOString(), kind: "text", text: "message" });
const [stored] = fs.readdirSync("box/new");
const { messages } = box.claim();
console.log(version, stored === id + ".json" ? "stored" : stored, messages[0].text, typeof backends.createTmuxExecutor);
`;

const usesParts = `
import { type Mailbox, type Message, openMailbox } from "troupe/mailbox";
import type { TeammateExecutor } from "troupe/backends";
export const box: Mailbox = openMailbox("box");
export const text = (message: Message): string | undefined => message.text;
export const type = (executor: TeammateExecutor): "tmux" | "iterm2" | "in-process" => executor.type;
// @ts-expect-error a number is no directory
openMailbox(1);
`;

const usesEngine = `
import { TroupeError, version } from "troupe";
export const v: string = version;
export const code: string = new TroupeError("a", "b").code;
// @ts-expect-error an error needs a message
new TroupeError("a");
`;

const tsc = path.join(root, "node_modules/typescript/bin/tsc");
const types = ["--typeRoots", path.join(root, "node_modules/@types"), "--types", "node"];
const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", ...types];
