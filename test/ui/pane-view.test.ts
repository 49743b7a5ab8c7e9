import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { createPaneView } from "../../src/ui/pane-view.js";
import { at, toolEnd } from "./events.js";
import { MemoryOutput } from "./memory-output.js";

const since = "2026-01-02T03:04:05Z";

function open(options: { terminal?: boolean; model?: string; rows?: number; input?: PassThrough } = {}) {
  const output = new MemoryOutput(
    options.terminal === true ? { columns: 80, rows: options.rows ?? 24 } : undefined,
  );
  const calls: string[] = [];
  const view = createPaneView({
    output,
    env: { LANG: "C.UTF-8", TERM: "xterm", NO_COLOR: "1" },
    title: "scout",
    colour: "red",
    what: "Explore",
    team: "auth",
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.input === undefined ? {} : { input: options.input }),
    onLine: (text) => calls.push(`line ${text}`),
    onEscape: () => calls.push("escape"),
    onInterrupt: () => calls.push("interrupt"),
    onEnd: () => calls.push("end"),
  });
  return { view, output, calls };
}

it("gives plain lines without escapes where there is no terminal, and reads lines", async () => {
  const input = new PassThrough();
  const { view, output, calls } = open({ model: "offline", input });
  view.state({ state: "working", since }, "Grep");
  view.show(at({ type: "agent", name: "scout", event: toolEnd("Grep", "TODO", { result: "34 matches" }) }));
  view.show(at({ type: "agent", name: "mapper", event: toolEnd("Grep", "other") }));
  input.end("hello\n");
  await vi.waitFor(() => expect(calls).toEqual(["line hello", "end"]));
  view.close();
  expect(output.text).toBe(
    "● scout  Explore · offline (scripted) · team auth\n● Grep TODO  34 matches · 0.3 s\n",
  );
});

it("shows mail to an agent as waiting until the agent reads it", () => {
  const { view, output } = open({ terminal: true, model: "opus" });
  view.show(
    at({ type: "mail", id: "1", from: "lead", to: "Scout", kind: "text", summary: "look at auth", text: "" }),
  );
  expect(output.writes.at(-1)).toContain("← from lead: look at auth (waiting)");
  view.show(
    at({
      type: "agent",
      name: "scout",
      event: { type: "message-in", ids: ["1"], labels: ["mail from lead: look at auth"] },
    }),
  );
  expect(output.writes.at(-1)).toContain("← from lead: look at auth\r\n");
  expect(output.writes.at(-1)).not.toContain("waiting");
  view.close();
});

it("shows output and mail of a command", () => {
  const { view, output } = open();
  view.show(at({ type: "output", name: "scout", line: "17 files" }));
  view.show(at({ type: "mail", id: "1", from: "lead", to: "scout", kind: "text", summary: "hi", text: "" }));
  view.show(at({ type: "mail", id: "2", from: "scout", to: "lead", kind: "text", summary: "17", text: "" }));
  view.show(at({ type: "mail", id: "3", from: "mapper", to: "lead", kind: "text", summary: "no", text: "" }));
  expect(output.text.split("\n").slice(1)).toEqual(["17 files", "← from lead: hi", "→ to lead: 17", ""]);
});

it("folds searches and reads in a low terminal only", () => {
  for (const [rows, folded] of [
    [12, true],
    [24, false],
  ] as const) {
    const { view, output } = open({ terminal: true, rows });
    view.show(at({ type: "agent", name: "scout", event: toolEnd("Read", "a.ts") }));
    expect(output.text.includes("Read 1 file, last a.ts")).toBe(folded);
    view.close();
  }
});

it("rings once when a person has to answer", () => {
  const { view, output } = open({ terminal: true });
  for (const reason of ["waiting-mail", "waiting-permission", "waiting-permission"] as const)
    view.state({ state: "idle", reason, since });
  expect(output.writes.filter((write) => write === "\u0007")).toHaveLength(1);
  view.close();
});

it("leaves nothing listening after it was closed", () => {
  const counts = () =>
    ["exit", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGCONT"].map((name) => process.listenerCount(name));
  const before = counts();
  const { view } = open({ terminal: true, input: new PassThrough() });
  expect(counts()).not.toEqual(before);
  view.close();
  view.close();
  expect(counts()).toEqual(before);
});
