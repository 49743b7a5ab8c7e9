import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");

const sources: readonly (readonly [file: string, code: string])[] = ["src", "mailbox", "backends"]
  .flatMap((room) =>
    fs
      .readdirSync(path.join(root, room), { recursive: true, encoding: "utf8" })
      .map((name) => `${room}/${name}`),
  )
  .filter((file) => file.endsWith(".ts"))
  .map((file) => [
    file,
    fs.readFileSync(path.join(root, file), "utf8").replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, ""),
  ]);

/** The files whose code, comments aside, matches. */
const filesWith = (pattern: RegExp): string[] =>
  sources.flatMap(([file, code]) => (pattern.test(code) ? [file] : []));

/** What cannot go wrong because nothing does it, or only one file. */
describe("in the sources", () => {
  it.each<[string, RegExp, readonly string[]]>([
    [
      "one file types into panes, for commands that read nothing else",
      /send-keys|paste-buffer|(set|load)-buffer|respawn-/,
      ["backends/tmux/paste-commands.ts"],
    ],
    ["no process is looked for or ended by its name", /\b(pkill|killall|pgrep|pidof)\b/, []],
    ["no key is bound and no hook set in tmux", /bind-key|unbind|set-hook|switch-client|detach-client/, []],
    ["tmux is asked about ids, never about whatever is active", /display-message/, []],
    [
      "what a pane shows is read by two files, which show it to people",
      /\bcapturePane\b/,
      ["backends/tmux/commands.ts", "backends/tmux/executor.ts", "backends/tmux/spawn.ts"],
    ],
    ["a model's login is never refreshed or stored", /refresh_?token|oauth/i, []],
  ])("%s", (_, pattern, allowed) => expect(filesWith(pattern).sort()).toEqual(allowed));
});
