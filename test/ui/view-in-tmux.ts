import { execFileSync } from "node:child_process";
import net from "node:net";
import path from "node:path";
import type { AgentEvent } from "../../src/agent/events.js";
import type { TeamEventBody } from "../../src/team/events.js";
import { waitUntil } from "../../src/util/wait.js";
import { bundleScript } from "../helpers/bundle.js";
import { startTmux, tmuxProgram } from "../helpers/tmux.js";
import type { ViewCommand, ViewReport } from "./demo-view.js";
import { ndjsonLines } from "./ndjson-lines.js";

/** A view that runs in a real tmux pane on a private server. */
export interface ViewInTmux {
  readonly reports: readonly ViewReport[];
  command(command: ViewCommand): void;
  show(event: TeamEventBody): void;
  agent(event: AgentEvent): void;
  tmux(...args: string[]): string;
  /** Types the key or literal text, as tmux names it. */
  keys(...keys: string[]): void;
  type(text: string): void;
  /** Pastes as a terminal does, bracketed if the program asked for it. */
  paste(text: string): void;
  /** The rows in sight, without trailing blanks; `history` gives what has scrolled up, too. */
  screen(options?: { history?: boolean }): string[];
  /** Waits until the screen satisfies `test` and gives its rows. */
  until(what: string, test: (rows: readonly string[]) => boolean): Promise<string[]>;
  report(what: string, test: (report: ViewReport) => boolean): Promise<ViewReport>;
  /** Ends the server and removes its files. */
  end(): void;
}

export async function openViewInTmux(options: {
  readonly kind: "pane" | "lead" | "lead-user";
  readonly columns: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<ViewInTmux> {
  const server = startTmux();
  const socketPath = path.join(server.dir, "view");
  const reports: ViewReport[] = [];
  let connection: net.Socket | undefined;
  const listener = net.createServer((socket) => {
    connection = socket;
    socket.on("error", () => {});
    ndjsonLines<ViewReport>(socket, (report) => reports.push(report));
  });
  const tmux = server.run;
  const end = (): void => {
    connection?.destroy();
    listener.close();
    server.stop();
  };
  const screen: ViewInTmux["screen"] = ({ history = false } = {}) =>
    tmux("capture-pane", "-p", "-t", "view", ...(history ? ["-S", "-"] : []))
      .split("\n")
      .map((row) => row.trimEnd());
  const until: ViewInTmux["until"] = async (what, test) => {
    let rows: string[] = [];
    try {
      const look = (): string[] | false => {
        rows = screen();
        return test(rows) && rows;
      };
      return await waitUntil(what, look, { timeoutMs: 10_000, everyMs: 30 });
    } catch (cause) {
      throw new Error(`${what}; the screen was:\n${rows.join("\n")}`, { cause });
    }
  };
  const send = (command: ViewCommand): void => {
    connection?.write(`${JSON.stringify(command)}\n`);
  };
  const report: ViewInTmux["report"] = (what, test) =>
    waitUntil(what, () => reports.find(test), { timeoutMs: 10_000 });
  const show: ViewInTmux["show"] = (event) =>
    send({ call: "show", event: { at: "2026-01-02T03:04:05.000Z", ...event } as never });

  try {
    await new Promise<void>((resolve) => listener.listen(socketPath, resolve));
    const settings = Object.entries(options.env ?? {}).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    // A shell stays behind the view, so that a test can see what the view leaves.
    const script = `"$0" "$1" "$2" "$3"; echo "left $?"; exec sh`;
    tmux(
      ...["new-session", "-d", "-s", "view", "-x", String(options.columns), "-y", String(options.rows)],
      ...["-e", "LANG=C.UTF-8", "-e", "PS1=shell:", ...settings],
      ...["--", "sh", "-c", script, process.execPath, bundleScript(demoView), options.kind, socketPath],
    );
    await report("the view opens", ({ type }) => type === "open");
  } catch (error) {
    end();
    throw error;
  }
  return {
    reports,
    command: send,
    show,
    agent: (event) => show({ type: "agent", name: options.kind === "pane" ? "scout" : "lead", event }),
    tmux,
    keys: (...keys) => void tmux("send-keys", "-t", "view", ...keys),
    type: (text) => void tmux("send-keys", "-t", "view", "-l", "--", text),
    paste(text) {
      execFileSync(tmuxProgram, ["-S", server.socket, "load-buffer", "-b", "paste", "-"], { input: text });
      tmux("paste-buffer", "-p", "-r", "-d", "-b", "paste", "-t", "view");
    },
    screen,
    until,
    report,
    end,
  };
}

const demoView = path.join(import.meta.dirname, "demo-view.ts");
