import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import { identityOf, liveness } from "../../src/util/process-identity.js";
import { until } from "../helpers/until.js";
import { type App, type AppEvent, createApp } from "./app.js";
import { type CookieJar, openCookieJar, refusalOf } from "./handshake.js";
import { createHandlers, type Faults, layoutOf } from "./requests.js";
import { type Message, wire } from "./schema.js";

/** A terminal emulator without a screen that speaks iTerm2's API, with real programs in its panes. */
export interface Iterm2Emulator {
  readonly socket: string;
  /** The home directory in which the socket stands where iTerm2 has it. */
  readonly home: string;
  /** What a program in the first pane has in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The id of the first pane. */
  readonly session: string;
  /** A program that gives a cookie as `osascript` does; with `denied` macOS does not let it. */
  readonly osascript: string;
  readonly cookies: CookieJar;
  readonly app: App;
  readonly faults: Faults & { denied?: boolean };
  /** The requests so far, by name, with what was in them. */
  readonly requests: readonly { readonly name: string; readonly request: Message }[];
  /** How many clients have been let in so far. */
  connections(): number;
  /** One line for each pane, with what must stay as it is: which has the focus in its tab, which tab is shown. */
  panes(): string[];
  /** Ends every connection; the API stays on. */
  drop(): void;
  /** Switches the API off; the socket's file goes, or stays without anybody behind it. */
  switchOff(leaving?: "nothing" | "socket"): Promise<void>;
  switchOn(): Promise<void>;
  /** Ends everything, and waits for the programs that it started. */
  stop(): Promise<void>;
}

export interface EmulatorOptions {
  /** The size of a tab in cells; default 200 by 50. */
  readonly width?: number;
  readonly height?: number;
  /** The program of the default profile. */
  readonly shell?: readonly string[];
  /** The default profile's settings. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** Lets everybody in, cookie or not. */
  readonly open?: boolean;
}

/** Starts one, with a window of one tab of one pane. */
export async function startIterm2Emulator(options: EmulatorOptions = {}): Promise<Iterm2Emulator> {
  const { width = 200, height = 50, shell = ["/bin/sh"], open = false } = options;
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-")));
  const place = path.join(home, "Library/Application Support/iTerm2/private");
  const socket = path.join(place, "socket");
  const jar = path.join(home, "cookies");
  fs.mkdirSync(place, { recursive: true, mode: 0o700 });
  fs.mkdirSync(jar);
  const cookies = openCookieJar(jar);
  const faults: Iterm2Emulator["faults"] = {};
  const requests: { name: string; request: Message }[] = [];
  const clients = new Map<WebSocket, Set<string>>();
  const pids: number[] = [];
  let letIn = 0;

  const envOf = (at: { window: number; tab: number; id: string }): Record<string, string> => ({
    PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
    HOME: home,
    SHELL: "/bin/sh",
    TERM_PROGRAM: "iTerm.app",
    TERM_PROGRAM_VERSION: "3.6.0",
    LC_TERMINAL: "iTerm2",
    COLORTERM: "truecolor",
    ITERM_SESSION_ID: `w${at.window}t${at.tab}p0:${at.id}`,
    TERM_SESSION_ID: `w${at.window}t${at.tab}p0:${at.id}`,
  });
  const app = createApp({
    area: { width, height },
    shell,
    home,
    profile: { Name: "Default", ...options.profile },
    env: envOf,
    tell,
  });
  const handlers = createHandlers(app, faults);

  function tell(event: AppEvent): void {
    const [type, news] = notificationOf(event, app);
    for (const [client, wanted] of clients)
      if (wanted.has(`${type} `) || ("session" in event && wanted.has(`${type} ${event.session}`)))
        client.send(wire.server.encode({ notification: news }));
    if (event.kind === "new") pids.push(app.find(event.session)?.session.pid ?? 0);
  }

  function notify(client: WebSocket, { session, subscribe, notification_type: type }: Message): Message {
    const wanted = clients.get(client);
    const key = `${type} ${session ?? ""}`;
    if (![6, 7, 8].includes(type)) return { status: "REQUEST_MALFORMED" };
    if (session !== undefined && app.find(session) === undefined) return { status: "SESSION_NOT_FOUND" };
    if (subscribe === wanted?.has(key))
      return { status: subscribe ? "ALREADY_SUBSCRIBED" : "NOT_SUBSCRIBED" };
    if (subscribe) wanted?.add(key);
    else wanted?.delete(key);
    return { status: "OK" };
  }

  async function serve(client: WebSocket, bytes: Uint8Array): Promise<void> {
    const { id, submessage, ...envelope }: Message = wire.client.decode(bytes);
    const name = String(submessage).replace(/_request$/, "");
    const request = envelope[submessage];
    requests.push({ name, request });
    if ((await faults.before?.(name)) === "ignore") return;
    const answer = name === "notification" ? notify(client, request) : await handlers[name]?.(request);
    if ((await faults.after?.(name)) === "ignore") return;
    client.send(
      wire.server.encode(
        answer === undefined ? { id, error: "unknown request" } : { id, [`${name}_response`]: answer },
      ),
    );
  }

  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  sockets.on("headers", (headers) => void headers.push("X-iTerm2-Protocol-Version: 1.17"));
  const server = http.createServer((_, response) => response.writeHead(400).end());
  server.on("upgrade", (request, stream, head) => {
    const isLetIn = (cookie: string | undefined) => open || (cookie !== undefined && cookies.take(cookie));
    const refusal = faults.door ?? refusalOf(request, isLetIn);
    if (refusal !== undefined) {
      stream.end(`HTTP/1.1 ${refusal} ${http.STATUS_CODES[refusal]}\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (client) => {
      letIn++;
      clients.set(client, new Set());
      client.on("close", () => clients.delete(client));
      client.on("error", () => client.terminate());
      client.on("message", (data) => void serve(client, data as Buffer));
    });
  });
  const drop = (): void => {
    for (const client of clients.keys()) client.terminate();
  };

  async function switchOn(): Promise<void> {
    fs.rmSync(socket, { force: true });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
  }
  async function switchOff(leaving: "nothing" | "socket" = "nothing"): Promise<void> {
    const aside = `${socket}.aside`;
    if (leaving === "socket") fs.linkSync(socket, aside);
    drop();
    await new Promise((resolve) => server.close(resolve));
    if (leaving === "socket") fs.renameSync(aside, socket);
  }

  await switchOn();
  const { session } = await app.openTab({ select: true, profile: {} });
  const [window] = app.windows;
  return {
    socket,
    home,
    env: envOf({ window: window?.number ?? 0, tab: 0, id: session.id }),
    session: session.id,
    osascript: writeOsascript(home, jar, cookies),
    cookies,
    app,
    requests,
    connections: () => letIn,
    faults: deniedBy(faults, path.join(home, "denied")),
    panes: () =>
      app.windows.flatMap((window) =>
        window.tabs.flatMap((tab) =>
          tab.tree.leaves().map((leaf) => {
            const marks = `${window.shown === tab ? " shown" : ""}${tab.active === leaf ? " active" : ""}`;
            return `${window.id} ${tab.id} ${leaf.id}${marks}`;
          }),
        ),
      ),
    drop,
    switchOff,
    switchOn,
    async stop() {
      if (server.listening) await switchOff();
      app.quit();
      await endAll(pids);
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

function notificationOf(event: AppEvent, app: App): [type: number, news: Message] {
  if (event.kind === "new") return [6, { new_session_notification: { session_id: event.session } }];
  if (event.kind === "end") return [7, { terminate_session_notification: { session_id: event.session } }];
  return [8, { layout_changed_notification: { list_sessions_response: layoutOf(app) } }];
}

/** Gives what `osascript` prints: a cookie out of the jar, and a key. */
function writeOsascript(home: string, jar: string, cookies: CookieJar): string {
  for (let count = 0; count < 20; count++) cookies.issue("asked");
  const file = path.join(home, "osascript");
  const script = `#!/bin/sh
if [ -e '${home}/denied' ]; then
  echo "execution error: Not authorized to send Apple events to iTerm. (-1743)" >&2
  exit 1
fi
printf '%s\\n' "$*" >>'${home}/osascript.log'
for file in '${jar}'/asked*; do
  case $file in *.given) continue ;; esac
  mkdir "$file.given" 2>/dev/null || continue
  basename "$file" | tr '\\n' ' '
  echo key
  exit 0
done
exit 1
`;
  fs.writeFileSync(file, script, { mode: 0o700 });
  return file;
}

/** `denied` is a file, which the program looks for. */
function deniedBy(faults: Faults, file: string): Iterm2Emulator["faults"] {
  return Object.defineProperty(faults, "denied", {
    get: () => fs.existsSync(file),
    set: (denied) => (denied ? fs.writeFileSync(file, "") : fs.rmSync(file, { force: true })),
  });
}

/** A hangup ends most programs; the rest are killed. */
async function endAll(pids: readonly number[]): Promise<void> {
  const identities = pids.map(identityOf).filter((identity) => identity !== undefined);
  const left = () => identities.filter((identity) => liveness(identity) === "alive");
  const late = Date.now() + 1000;
  await until(() => {
    if (Date.now() > late) for (const { pid } of left()) process.kill(pid, "SIGKILL");
    return left().length === 0;
  }, "the programs of the panes end");
}
