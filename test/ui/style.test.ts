import { expect, it } from "vitest";
import { createStyle } from "../../src/ui/style.js";

const terminal = { isTTY: true };
const file = {};

it.each<[string, { isTTY?: boolean }, NodeJS.ProcessEnv, boolean]>([
  ["a terminal", terminal, { TERM: "xterm" }, true],
  ["a file", file, { TERM: "xterm" }, false],
  ["a dumb terminal", terminal, { TERM: "dumb" }, false],
  ["NO_COLOR", terminal, { NO_COLOR: "1" }, false],
  ["an empty NO_COLOR", terminal, { NO_COLOR: "" }, true],
  ["FORCE_COLOR on a file", file, { FORCE_COLOR: "1" }, true],
  ["FORCE_COLOR against NO_COLOR", file, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  ["FORCE_COLOR=0", terminal, { FORCE_COLOR: "0" }, false],
])("colours for %s", (_, output, env, colour) => {
  const style = createStyle(output, env);
  expect(style.colour).toBe(colour);
  expect(style.paint("red", "x")).toBe(colour ? "\u001b[38;5;203mx\u001b[39m" : "x");
});

it("leaves text of an unknown colour plain", () => {
  const style = createStyle(terminal, {});
  expect(style.paint("mauve", "x")).toBe("x");
  expect(style.paint("constructor", "x")).toBe("x");
});

it.each<[NodeJS.ProcessEnv, string]>([
  [{ LANG: "en_US.UTF-8" }, "●"],
  [{ LANG: "C.utf8" }, "●"],
  [{ LANG: "C.UTF-8", LC_ALL: "C" }, "*"],
  [{ LANG: "C.UTF-8", LC_CTYPE: "POSIX" }, "*"],
  [{}, "*"],
])("symbols for %j", (env, done) => expect(createStyle(terminal, env).symbols.done).toBe(done));
