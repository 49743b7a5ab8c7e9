import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { openKeyInput } from "../../src/ui/key-input.js";
import type { Key } from "../../src/ui/key-parser.js";
import { MemoryOutput } from "./memory-output.js";

function open(options: { terminal: boolean }) {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: options.terminal,
    setRawMode: (mode: boolean) => raw.push(mode),
  });
  const output = new MemoryOutput({ columns: 80, rows: 24 });
  const keys: Key[] = [];
  const onEnd = vi.fn();
  const keyInput = openKeyInput({
    input: input as never,
    output,
    raw: true,
    onKey: (key) => keys.push(key),
    onEnd,
  });
  return { input, output, raw, keys, onEnd, close: keyInput.close };
}

it("switches raw mode and bracketed paste on, and off again once", () => {
  const { input, output, raw, close } = open({ terminal: true });
  expect([raw, output.text]).toEqual([[true], "\u001b[?2004h"]);
  close();
  close();
  expect([raw, output.text]).toEqual([[true, false], "\u001b[?2004h\u001b[?2004l"]);
  expect(input.listenerCount("data")).toBe(0);
});

it("gives a lone Esc soon, without another key", async () => {
  const { input, keys, close } = open({ terminal: true });
  input.write("\u001b");
  await vi.waitFor(() => expect(keys).toEqual([{ type: "key", name: "escape" }]));
  close();
});

it("reads lines from what is no terminal, the last one without its end", async () => {
  const { input, output, raw, keys, onEnd } = open({ terminal: false });
  input.end("one\ntwo");
  await vi.waitFor(() => expect(onEnd).toHaveBeenCalledOnce());
  expect(keys).toEqual([
    { type: "text", text: "one" },
    { type: "key", name: "enter" },
    { type: "text", text: "two" },
    { type: "key", name: "enter" },
  ]);
  expect([raw, output.text]).toEqual([[], ""]);
});

it("takes a failing input for its end", async () => {
  const { input, raw, onEnd } = open({ terminal: true });
  input.destroy(new Error("read EIO"));
  await vi.waitFor(() => expect(onEnd).toHaveBeenCalledOnce());
  expect(raw).toEqual([true, false]);
});

it("gives nothing more after it was closed in the middle", async () => {
  const { input, keys, close } = open({ terminal: true });
  input.on("data", close);
  input.write("a");
  await vi.waitFor(() => expect(keys).toHaveLength(1));
  input.write("b\u001b");
  expect(keys).toHaveLength(1);
});
