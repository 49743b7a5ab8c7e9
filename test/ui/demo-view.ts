import net from "node:net";
import type { TeamEvent } from "../../src/team/events.js";
import type { MemberState } from "../../src/team/member-state.js";
import { createLeadView } from "../../src/ui/lead-view.js";
import { createPaneView } from "../../src/ui/pane-view.js";
import { ndjsonLines } from "./ndjson-lines.js";

/** What a test tells a view to do, and what the view tells of a person's doing. One JSON line each, over a socket. */
export type ViewCommand =
  | { readonly call: "show"; readonly event: TeamEvent }
  | { readonly call: "state"; readonly state: MemberState; readonly activity?: string }
  | { readonly call: "close" }
  | { readonly call: "exit"; readonly code: number }
  | { readonly call: "throw" };

export type ViewReport =
  | { readonly type: "open" | "escape" | "interrupt" | "end" }
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "message"; readonly to: string; readonly text: string };

// Runs one view in the terminal it was started in: demo-view KIND SOCKET.
const [kind, socketPath = ""] = process.argv.slice(2);
const socket = net.connect(socketPath);
const report = (message: ViewReport): void => {
  socket.write(`${JSON.stringify(message)}\n`);
};
const handlers = {
  input: process.stdin,
  output: process.stdout,
  env: process.env,
  team: "auth-review",
  onEscape: () => report({ type: "escape" }),
  onInterrupt: () => report({ type: "interrupt" }),
  onEnd: () => report({ type: "end" }),
};
const pane =
  kind === "pane"
    ? createPaneView({
        ...handlers,
        title: "scout",
        colour: "red",
        what: "Explore",
        model: "offline",
        scripted: true,
        onLine: (text) => report({ type: "line", text }),
      })
    : undefined;
const view =
  pane ??
  createLeadView({
    ...handlers,
    lead: kind === "lead-user" ? "user" : "lead",
    onMessage: (to, text) => report({ type: "message", to, text }),
  });

ndjsonLines<ViewCommand>(socket, (command) => {
  if (command.call === "show") view.show(command.event);
  else if (command.call === "state") pane?.state(command.state, command.activity);
  else if (command.call === "exit") process.exit(command.code);
  else if (command.call === "throw") throw new Error("thrown by the test");
  else {
    view.close();
    socket.end();
  }
});
report({ type: "open" });
