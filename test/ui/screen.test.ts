import { expect, it } from "vitest";
import { createScreen } from "../../src/ui/screen.js";
import { MemoryOutput } from "./memory-output.js";

const env = { TERM: "xterm-256color" };

it("writes finished rows alone, without any escape, where it is no terminal", () => {
  const output = new MemoryOutput();
  const screen = createScreen(output, env);
  screen.update(["one", "two"], ["live"], () => ({ before: "> ", after: "" }));
  screen.update([], ["live again"]);
  screen.bell();
  screen.close();
  expect(output.writes).toEqual(["one\ntwo\n"]);
  expect(screen.columns()).toBe(Number.POSITIVE_INFINITY);
});

it("takes a dumb terminal for no terminal", () => {
  const output = new MemoryOutput({ columns: 80, rows: 24 });
  createScreen(output, { TERM: "dumb" }).update(["one"], ["live"]);
  expect(output.text).toBe("one\n");
});

it("makes one write per update", () => {
  const output = new MemoryOutput({ columns: 80, rows: 24 });
  const screen = createScreen(output, env);
  screen.update(["one", "two"], ["a", "b"], () => ({ before: "> x", after: "y" }));
  expect(output.writes).toHaveLength(1);
  screen.update([], ["a"]);
  expect(output.writes).toHaveLength(2);
});

it.each([1, 2, 3, 5])("draws at most what fits into %i rows, the last rows first", (rows) => {
  const output = new MemoryOutput({ columns: 20, rows });
  const screen = createScreen(output, env);
  screen.update([], ["a1", "a2", "a3", "a4", "a5", "a6"], () => ({ before: "> ", after: "" }));
  const drawn = output.text.match(/a\d/g) ?? [];
  expect(drawn).toEqual(["a1", "a2", "a3", "a4", "a5", "a6"].slice(6 - Math.max(0, rows - 2)));
  expect(output.text).toContain("> ");
});

it("asks for the input row again, and redraws, when the terminal is resized", () => {
  const output = new MemoryOutput({ columns: 40, rows: 10 });
  const screen = createScreen(output, env);
  const widths: number[] = [];
  screen.update([], [], (columns) => {
    widths.push(columns);
    return { before: "> ", after: "" };
  });
  output.columns = 20;
  output.emit("resize");
  expect(widths).toEqual([39, 19]);
});

it("writes nothing more once the terminal is gone, and does not fail", () => {
  const output = new MemoryOutput({ columns: 40, rows: 10 });
  const screen = createScreen(output, env);
  output.emit("error", Object.assign(new Error("write EIO"), { code: "EIO" }));
  screen.update(["one"], []);
  screen.close();
  expect(output.writes).toEqual([]);
});

it("takes the live rows away at the end and lets go of the stream", () => {
  const output = new MemoryOutput({ columns: 40, rows: 10 });
  const listeners = () => output.listenerCount("resize") + output.listenerCount("error");
  const before = listeners();
  const screen = createScreen(output, env);
  screen.update([], ["a", "b"], () => ({ before: "> ", after: "" }));
  screen.close();
  expect(output.writes.at(-1)).toBe("\r\u001b[2A\u001b[J");
  screen.update(["late"], []);
  screen.close();
  expect(output.text).not.toContain("late");
  expect(listeners()).toBe(before);
});
