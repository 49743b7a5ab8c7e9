import fs from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { openViewInTmux, type ViewInTmux } from "./view-in-tmux.js";

const prompt = "message scout:";
const usage = { input: 900, output: 40, cacheRead: 0, cacheWrite: 0 };

let view: ViewInTmux;

afterEach(() => view.end());

const openAt = async (columns: number, rows: number): Promise<void> => {
  view = await openViewInTmux({ kind: "pane", columns, rows });
  view.command({ call: "state", state: { state: "working", since: "2026-01-02T03:04:05Z" } });
  await view.until("the view is drawn", (screen) => screen.some((row) => row.startsWith("working")));
};
const rowOf = (screen: readonly string[], start: string): number =>
  screen.findIndex((row) => row.startsWith(start));

describe.each([
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
])("a pane view at $columns×$rows", ({ columns, rows }) => {
  const open = (): Promise<void> => openAt(columns, rows);

  it("shows who it is, what it does and a line to write to it", async () => {
    await open();
    view.agent({ type: "tool-start", id: "1", tool: "Grep", summary: '"TODO" in src' });
    await view.until("the running tool", (screen) => screen.includes('○ Grep "TODO" in src …'));
    view.agent({
      type: "tool-end",
      id: "1",
      tool: "Grep",
      summary: '"TODO" in src',
      isError: false,
      durationMs: 320,
      result: "34 matches",
    });
    const screen = await view.until(
      "the finished tool",
      (found) => rowOf(found, "●  Grep") < 0 && rowOf(found, "● Grep") > 0,
    );
    expect(screen.slice(0, 4)).toEqual([
      "● scout  Explore · offline (scripted) · team auth-review",
      '● Grep "TODO" in src  34 matches · 0.3 s',
      "working · Esc interrupts",
      prompt,
    ]);
  });

  it("keeps the typed line and the text apart while both go on", async () => {
    await open();
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
    for (const [index, word] of words.entries()) {
      view.agent({ type: "text", text: `${word} ` });
      if (index % 10 === 0) view.type(`k${index}`);
    }
    view.agent({ type: "text-end" });
    const screen = await view.until(
      "text and line",
      (found) => found.some((row) => row.includes("word59")) && found.includes(`${prompt} k0k10k20k30k40k50`),
    );
    const text = screen.slice(1, rowOf(screen, "working")).join(" ");
    expect(text.split(" ")).toEqual(words);
    view.keys("Enter");
    expect(await view.report("the line", ({ type }) => type === "line")).toEqual({
      type: "line",
      text: "k0k10k20k30k40k50",
    });
    await view.until("an empty line", (found) => found.includes(prompt));
  });

  it("keeps everything that was finished in the scrollback, once", async () => {
    await open();
    const lines = Array.from({ length: 3 * rows }, (_, index) => `line ${index}`);
    for (const line of lines) view.agent({ type: "text", text: `${line}\n` });
    await view.until("the last line", (found) => found.includes(lines.at(-1) ?? ""));
    expect(view.screen({ history: true }).filter((row) => row.startsWith("line "))).toEqual(lines);
    expect(view.screen({ history: true }).filter((row) => row.startsWith(prompt))).toHaveLength(1);
  });

  it("takes a pasted text as one message with its line breaks", async () => {
    await open();
    view.paste("first\nsecond\n\u001b]2;owned\u0007third");
    await view.until("the paste", (found) => found.some((row) => row.includes("first↵second↵")));
    expect(view.reports.filter(({ type }) => type === "line")).toEqual([]);
    view.keys("Enter");
    const report = await view.report("the message", ({ type }) => type === "line");
    expect(report).toMatchObject({ text: expect.stringMatching(/^first\nsecond\n.*third$/) });
  });

  it("survives a terminal that becomes narrower, wider, lower and higher", async () => {
    await open();
    for (let index = 0; index < 5; index++) view.agent({ type: "text", text: `line ${index}\n` });
    view.agent({ type: "text", text: "an unfinished row that is rather long so that it does not fit" });
    view.type("typed");
    await view.until("all of it", (found) => found.includes(`${prompt} typed`));
    for (const [x, y] of [
      [40, rows],
      [columns, rows],
      [50, 8],
      [columns + 20, rows + 10],
      [columns, rows],
    ] as const) {
      view.tmux("resize-window", "-t", "view", "-x", String(x), "-y", String(y));
      view.agent({ type: "text", text: "." });
      const screen = await view.until(`drawn at ${x}×${y}`, (found) => found.includes(`${prompt} typed`));
      expect(screen.filter((row) => row.startsWith("working"))).toHaveLength(1);
    }
    view.agent({ type: "text", text: " end\n" });
    await view.until("the end", (found) => found.some((row) => row.includes(" end")));
    const all = view.screen({ history: true });
    expect(all.filter((row) => row.startsWith("line "))).toEqual(
      [0, 1, 2, 3, 4].map((index) => `line ${index}`),
    );
    expect(all.filter((row) => row.startsWith("an unfinished"))).toHaveLength(1);
    expect(all.filter((row) => row.startsWith("working"))).toHaveLength(1);
    expect(all.filter((row) => row.startsWith(prompt))).toHaveLength(1);
  });

  it.each([
    ["Han", "漢字かな交じり文"],
    ["emoji", "😀👍🏽🚀"],
    ["joined emoji", "👩‍👩‍👧‍👦👨‍🚀"],
    ["selectors and keycaps", "☁️1️⃣❤️"],
    ["combining marks", "e\u0301o\u0308n\u0303"],
    ["flags", "🇩🇪🇯🇵"],
  ])("does not drift by wide characters: %s", async (_, sample) => {
    await open();
    const long = sample.repeat(Math.ceil((2 * columns) / 4));
    view.agent({ type: "text", text: `${long}` });
    view.type(sample);
    await view.until("the typed sample", (found) => found.some((row) => row.startsWith(`${prompt} `)));
    view.keys("Left");
    view.keys("BSpace");
    view.type("x");
    view.keys("End");
    view.type("y");
    view.agent({ type: "text-end" });
    view.agent({ type: "text", text: "after\n" });
    const screen = await view.until(
      "what comes after",
      (found) => found.includes("after") && found.some((row) => row.endsWith("y")),
    );
    expect(screen.filter((row) => row.startsWith(prompt))).toHaveLength(1);
    expect(screen.filter((row) => row.startsWith("working"))).toHaveLength(1);
    expect(screen.slice(screen.indexOf("after") + 1, screen.indexOf("after") + 2)).toEqual([
      "working · Esc interrupts",
    ]);
    view.keys("Enter");
    await view.report("the line", ({ type }) => type === "line");
  });

  it("stays in place where the terminal finds a row wider than we do", async () => {
    await open();
    const wide = `👍${"🏽".repeat(columns)}`;
    view.agent({ type: "tool-start", id: "1", tool: "Bash", summary: wide });
    view.type(wide);
    await view.until("the typed row", (found) => found.some((row) => row.startsWith(`${prompt} 👍`)));
    for (const line of ["one", "two", "three"]) view.agent({ type: "text", text: `${line}\n` });
    await view.until("the last line", (found) => found.includes("three"));
    const screen = view.screen({ history: true }).filter((row) => row !== "");
    const starts = ["● scout", "one", "two", "three", "○ Bash 👍", "working", `${prompt} 👍`];
    expect(screen.map((row, index) => row.slice(0, starts[index]?.length))).toEqual(starts);
  });

  it("lets no escape sequence of an agent through", async () => {
    await open();
    const before = view.tmux("display-message", "-p", "-t", "view", "#{pane_title}");
    const hostile = [
      "\u001b]0;owned\u0007title ",
      "\u001b[2J\u001b[Hclear ",
      "\u001b[5A\u001b[1;1Hmoved ",
      "\u001b[?1049halternate ",
      "\u009b2Jc1 ",
      "\u001bPdcs\u001b\\ ",
      "a\rb\bc\u0007\u000e ",
      "\u202eright to left\u202c ",
    ];
    for (const piece of hostile) view.agent({ type: "text", text: piece });
    // Also cut in the middle of the sequence.
    view.agent({ type: "text", text: "\u001b" });
    view.agent({ type: "text", text: "[2Jsplit\n" });
    const evil = hostile.join("");
    view.agent({ type: "tool-start", id: "1", tool: evil, summary: evil });
    view.agent({
      type: "tool-end",
      id: "1",
      tool: evil,
      summary: evil,
      isError: true,
      durationMs: 1,
      result: evil,
    });
    view.agent({ type: "denied", tool: evil, summary: evil, reason: evil });
    view.agent({ type: "message-in", ids: ["1"], labels: [evil] });
    view.agent({ type: "notice", level: "warning", text: evil });
    view.agent({ type: "turn-end", turn: 1, firstTokenMs: 1, durationMs: 1, usage, stopReason: evil });
    view.show({ type: "mail", id: "2", from: evil, to: "scout", kind: "text", summary: evil, text: evil });
    view.show({ type: "output", name: "scout", line: evil });
    view.show({ type: "team-ended", reason: evil });
    view.command({
      call: "state",
      state: { state: "idle", reason: "done", detail: evil, since: "" },
      activity: evil,
    });
    view.agent({ type: "text", text: "the end\n" });
    const screen = await view.until("the end", (found) => found.includes("the end"));
    expect(view.tmux("display-message", "-p", "-t", "view", "#{pane_title}")).toBe(before);
    expect(view.tmux("display-message", "-p", "-t", "view", "#{alternate_on}")).toBe("0");
    expect(view.screen({ history: true })[0]).toBe(
      "● scout  Explore · offline (scripted) · team auth-review",
    );
    expect(screen.filter((row) => row.startsWith(prompt))).toHaveLength(1);
    expect(rowOf(screen, prompt)).toBeGreaterThan(rowOf(screen, "the end"));
  });
});

describe("the terminal of a pane view", () => {
  const open = (): Promise<void> => openAt(80, 24);

  it("tells of Esc, Ctrl-C and Ctrl-D, each by one press", async () => {
    await open();
    view.keys("Escape");
    await view.report("Esc", ({ type }) => type === "escape");
    view.keys("C-c");
    await view.report("Ctrl-C", ({ type }) => type === "interrupt");
    view.keys("C-d");
    await view.report("Ctrl-D", ({ type }) => type === "end");
    view.type("\u001b[27u");
    await view.report(
      "Esc as CSI u",
      () => view.reports.filter(({ type }) => type === "escape").length === 2,
    );
    view.type("hello\u001b[13u");
    expect(await view.report("Enter as CSI u", ({ type }) => type === "line")).toEqual({
      type: "line",
      text: "hello",
    });
  });

  it.each([
    ["it is closed", { call: "close" }, "left 0"],
    ["the process exits", { call: "exit", code: 3 }, "left 3"],
    ["the process fails", { call: "throw" }, "left 1"],
  ] as const)("gives the terminal back when %s", async (_, command, left) => {
    await open();
    view.command(command);
    await view.until("the shell", (found) => found.includes(left) && found.includes("shell:"));
    view.type("stty -a | tr ' ' '\\n' | grep -x -e -icanon -e -echo -e icanon");
    view.keys("Enter");
    await view.until(
      "the modes",
      (found) => found.includes("icanon") && !found.includes("-icanon") && !found.includes("-echo"),
    );
    view.type("echo ");
    view.paste("pasted plainly");
    await view.until("no bracketed paste", (found) => found.includes("shell:echo pasted plainly"));
    expect(view.tmux("display-message", "-p", "-t", "view", "#{cursor_flag}#{wrap_flag}")).toBe("11");
  });

  it.each(["TERM", "INT", "HUP"])("gives the terminal back on SIG%s", async (signal) => {
    await open();
    const shell = view.tmux("display-message", "-p", "-t", "view", "#{pane_pid}").trim();
    const pid = fs.readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim();
    process.kill(Number(pid), `SIG${signal}` as NodeJS.Signals);
    await view.until(
      "the shell",
      (found) => found.some((row) => row.startsWith("left 1")) && found.includes("shell:"),
    );
    view.type("echo ");
    view.paste("pasted plainly");
    await view.until("no bracketed paste", (found) => found.includes("shell:echo pasted plainly"));
  });
});
