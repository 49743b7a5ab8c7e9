import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openPasteMode } from "../../../backends/iterm2/paste-mode.js";
import { temporaryDirectory } from "../../helpers/temp.js";

it("a paste is marked after the program has asked for that, and until it asks for that no more", async () => {
  const log = path.join(temporaryDirectory(), "output.log");
  const mode = openPasteMode(log);
  expect(await mode.isMarked()).toBe(false);
  const steps: readonly (readonly [text: string, marked: boolean])[] = [
    ["hello", false],
    ["\u001b[?2004h> ", true],
    ["x".repeat(3_000_000), true],
    ["\u001b[?20", true],
    ["04l", false],
    ["\u001b[?1049;2004h", true],
    ["\u001b[?12004l\u001b[2004l", true],
    ["\u001b[?2004l\u001b[?2004h", true],
  ];
  for (const [text, marked] of steps) {
    fs.appendFileSync(log, text);
    expect(await mode.isMarked(), JSON.stringify(text.slice(0, 20))).toBe(marked);
  }
});

it("what a teammate puts into the place of its log is read as nothing", async () => {
  const log = path.join(temporaryDirectory(), "output.log");
  fs.mkdirSync(log);
  expect(await openPasteMode(log).isMarked()).toBe(false);
});
