import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import * as backends from "../../backends/index.js";
import { builtCommand } from "../helpers/built.js";
import { temporaryDirectory } from "../helpers/temp.js";

const root = path.resolve(import.meta.dirname, "../..");
const page = read("docs/backends.md");

beforeAll(async () => void (await builtCommand()), 240_000);

describe("the page about backends", () => {
  test("shows a program that does what it says there", { timeout: 120_000 }, () => {
    const project = temporaryDirectory();
    fs.mkdirSync(path.join(project, "node_modules"));
    fs.symlinkSync(root, path.join(project, "node_modules/troupe"));
    const example = blockOf("js example.mjs");
    fs.writeFileSync(path.join(project, "example.mjs"), example);
    const { stdout, stderr, status } = spawnSync(process.execPath, ["example.mjs", "place"], {
      cwd: project,
      encoding: "utf8",
      timeout: 60_000,
    });
    const said = [...example.matchAll(/; \/\/ (.*)$/gm)].map(([, comment]) => comment);
    expect({ lines: stdout.split("\n").slice(0, -1), stderr, status }).toEqual({
      lines: said,
      stderr: "",
      status: 0,
    });
    expect(said.length).toBeGreaterThan(5);
  });

  test("shows how the example is held to the contract", () => {
    expect(read("examples/screen-backend/contract.test.mjs")).toContain(blockOf("js contract.test.mjs"));
  });

  test("names the parts that there are, every member and every code", () => {
    const parts = sectionOf("What there is to build with");
    const named = [...parts.matchAll(/`(\w+)\(/g)].map(([, name]) => name ?? "");
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !(name in backends))).toEqual([]);

    const types = read("backends/types.ts");
    const members = bodyOf(types, "export interface TeammateExecutor").matchAll(
      /^ {2}(?:readonly )?(\w+)\??[(:]/gm,
    );
    const told = [...sectionOf("The interface").matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);
    expect(told).toEqual(expect.arrayContaining(Array.from(members, ([, name]) => name)));

    const codes = /Found before anything is started: ([\s\S]*?)\*\//.exec(types)?.[1] ?? "";
    const table = sectionOf("Errors and codes");
    const missing = [...codes.matchAll(/`[a-z-]+`/g)].filter(([code]) => !table.includes(code));
    expect(missing).toEqual([]);
    expect(codes).toContain("`deadline`");
  });

  test("links to files that there are", () => {
    const links = [...page.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link ?? "");
    expect(links.filter((link) => !fs.existsSync(path.join(root, "docs", link)))).toEqual([]);
  });
});

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), "utf8");
}

function blockOf(info: string): string {
  return page.split(`\`\`\`${info}\n`)[1]?.split("```")[0] ?? "no such block";
}

function sectionOf(title: string): string {
  return page.split(`## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
}

function bodyOf(source: string, head: string): string {
  return source.split(head)[1]?.split("\n}\n")[0] ?? "";
}
