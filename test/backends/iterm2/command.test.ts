import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { paneCommand } from "../../../backends/iterm2/command.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { wordsOf } from "../../iterm2-emulator/command-line.js";

it.each(["plain", "a b", "it's", '"', "back\\slash", "\\(session.name)", "é", "#;$(id)`id`", "~"])(
  "a script in a directory named %j is run by two words",
  async (name) => {
    const dir = path.join(temporaryDirectory(), name);
    fs.mkdirSync(dir);
    const script = path.join(dir, "launch.sh");
    fs.writeFileSync(script, "echo here");
    const { command, dispose } = await paneCommand(script);
    const words = wordsOf(command, () => "expanded");
    expect(words).toHaveLength(2);
    expect(execFileSync(words[0]!, words.slice(1), { encoding: "utf8" })).toBe("here\n");
    await dispose();
    await dispose();
    expect(fs.existsSync(script)).toBe(true);
    expect(fs.existsSync(words[1]!)).toBe(name === "plain");
  },
);

it("a script for which there is no harmless path is refused, and nothing is left", async () => {
  const dir = path.join(temporaryDirectory(), "a b");
  fs.mkdirSync(dir);
  await expect(paneCommand(path.join(dir, "launch.sh"), dir)).rejects.toMatchObject({
    code: "iterm2-path",
    remedy: expect.stringContaining("TROUPE_HOME"),
  });
  expect(fs.readdirSync(dir)).toEqual([]);
});
