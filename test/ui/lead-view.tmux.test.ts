import { afterEach, expect, it } from "vitest";
import { openViewInTmux, type ViewInTmux } from "./view-in-tmux.js";

let view: ViewInTmux;

afterEach(() => view.end());

const since = "2026-01-02T03:04:05Z";

async function open(kind: "lead" | "lead-user", columns = 80, rows = 24): Promise<void> {
  view = await openViewInTmux({ kind, columns, rows });
  for (const [name, colour] of [
    ["scout", "red"],
    ["mapper", "blue"],
  ] as const)
    view.show({ type: "member-joined", name, colour, what: "Explore" });
}

it("keeps a roster of the others that lives", async () => {
  await open("lead");
  view.show({ type: "member-state", name: "scout", state: "working", since });
  view.show({ type: "member-state", name: "mapper", state: "idle", reason: "waiting-mail", since });
  view.show({ type: "member-state", name: "lead", state: "working", since });
  await view.until("the roster", (screen) => screen.includes("scout working · mapper idle (waiting-mail)"));
  view.show({ type: "member-state", name: "scout", state: "ended", reason: "completed", since });
  const screen = await view.until("its change", (found) =>
    found.includes("scout ended · mapper idle (waiting-mail)"),
  );
  expect(screen.filter((row) => row !== "")).toEqual([
    "scout joined  Explore",
    "mapper joined  Explore",
    "scout working",
    "mapper idle (waiting-mail)",
    "scout ended (completed)",
    "lead working · Esc interrupts",
    "scout ended · mapper idle (waiting-mail)",
    "message lead:",
  ]);
});

it("writes to the lead, to a member by name, and to everybody", async () => {
  await open("lead");
  for (const line of ["go on", "@scout look at auth", "@* stop"]) {
    view.type(line);
    view.keys("Enter");
  }
  await view.report("the last message", (report) => report.type === "message" && report.to === "*");
  expect(view.reports.filter(({ type }) => type === "message")).toEqual([
    { type: "message", to: "lead", text: "go on" },
    { type: "message", to: "scout", text: "look at auth" },
    { type: "message", to: "*", text: "stop" },
  ]);
});

it("asks to whom where the user leads, and keeps the line at hand", async () => {
  await open("lead-user");
  view.type("look at auth");
  view.keys("Enter");
  await view.until("the question", (screen) => screen.some((row) => row.startsWith("! to whom?")));
  view.keys("Up", "Home");
  view.type("@scout ");
  view.keys("Enter");
  expect(await view.report("the message", ({ type }) => type === "message")).toEqual({
    type: "message",
    to: "scout",
    text: "look at auth",
  });
});

it.each([
  [20, 3],
  [10, 2],
  [4, 1],
])("works in a terminal of %i×%i", async (columns, rows) => {
  await open("lead", columns, rows);
  view.show({ type: "member-state", name: "lead", state: "working", since });
  view.agent({ type: "text", text: "漢字".repeat(20) });
  view.agent({ type: "text", text: "\nok\n" });
  view.type("abc");
  await view.until("the line", (screen) => (screen[rows - 1] ?? "").includes("c"));
  view.tmux("resize-window", "-t", "view", "-x", "80", "-y", "24");
  const screen = await view.until("the bigger one", (found) => found.includes("message lead: abc"));
  expect(screen.filter((row) => row.startsWith("lead working"))).toHaveLength(1);
  expect(screen).toContain("ok");
});
