import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { exec } from "../../src/util/exec.js";
import { identityOf, liveness } from "../../src/util/process-identity.js";
import { until } from "../helpers/until.js";
import { type ApiClient, connectClient, emulatorOf, goodHeaders, shown } from "./api-client.js";
import type { Iterm2Emulator } from "./emulator.js";
import type { Message } from "./schema.js";

const clientOf = (emulator: Iterm2Emulator): Promise<ApiClient> =>
  connectClient(emulator.socket, goodHeaders(emulator.cookies.issue()));

/** Profile properties for a command, and others. */
const running = (command: string, more: Record<string, unknown> = {}) =>
  Object.entries({ "Custom Command": "Yes", Command: command, ...more }).map(([key, value]) => ({
    key,
    json_value: JSON.stringify(value),
  }));

async function split(client: ApiClient, session: string, properties: Message[] = []): Promise<string> {
  const answer = await client.ask("split_pane", {
    session,
    split_direction: "VERTICAL",
    custom_profile_properties: properties,
  });
  expect(answer.status).toBe("OK");
  return answer.session_id[0];
}

const variable = async (client: ApiClient, session: string, name: string): Promise<unknown> =>
  JSON.parse((await client.ask("variable", { session_id: session, get: [name] })).values[0] ?? "null");

describe("the door", () => {
  it("opens to a client with a cookie, once", async () => {
    const emulator = await emulatorOf();
    const cookie = emulator.cookies.issue();
    const client = await connectClient(emulator.socket, goodHeaders(cookie));
    expect((await client.ask("list_sessions")).windows).toHaveLength(1);
    await expect(connectClient(emulator.socket, goodHeaders(cookie))).rejects.toThrow("HTTP 401");
    await expect(connectClient(emulator.socket, goodHeaders("guess"))).rejects.toThrow("HTTP 401");
  });

  it("stays shut to what is not the API's own way of calling", async () => {
    const { socket, cookies } = await emulatorOf();
    const good = goodHeaders(cookies.issue());
    const { "x-iterm2-library-version": _, ...anonymous } = good;
    await expect(connectClient(socket, anonymous)).rejects.toThrow("HTTP 400");
    await expect(connectClient(socket, { ...good, "x-iterm2-library-version": "oneword" })).rejects.toThrow(
      "HTTP 400",
    );
    await expect(connectClient(socket, good, { protocol: "chat" })).rejects.toThrow("HTTP 400");
    await expect(connectClient(socket, good, { origin: "http://evil.example" })).rejects.toThrow("HTTP 400");
    await expect(connectClient(socket, good, { url: "ws://localhost/other" })).rejects.toThrow("HTTP 400");
    await expect(connectClient(socket, good, { url: "ws://evil.example/" })).rejects.toThrow("HTTP 400");
    await expect(
      connectClient(socket, { ...good, "x-iterm2-library-version": "python 0.23" }),
    ).rejects.toThrow("HTTP 406");
    await connectClient(socket, good);
  });

  it("opens without a cookie where all are let in", async () => {
    const { socket } = await emulatorOf({ open: true });
    await connectClient(socket, { "x-iterm2-library-version": "test 1.0" });
  });

  it("is closed while the API is off, with and without a socket's file", async () => {
    const emulator = await emulatorOf({ open: true });
    const client = await clientOf(emulator);
    await emulator.switchOff();
    await client.closed;
    await expect(clientOf(emulator)).rejects.toThrow("ENOENT");
    await emulator.switchOn();
    await clientOf(emulator);
    await emulator.switchOff("socket");
    await expect(clientOf(emulator)).rejects.toThrow("ECONNREFUSED");
  });

  it("has a program that gets cookies for others, unless that is denied", async () => {
    const emulator = await emulatorOf();
    const ask = () => exec([emulator.osascript, "-e", "x"], { cwd: "/", timeoutMs: 10_000 });
    const words = (await ask()).stdout.split(/\s+/);
    expect(words[1]).toBe("key");
    await connectClient(emulator.socket, goodHeaders(words[0] ?? ""));
    expect((await ask()).stdout).not.toContain(`${words[0]} `);
    emulator.faults.denied = true;
    await expect(ask()).rejects.toThrow(/-1743/);
  });
});

describe("a pane", () => {
  it("runs a real program, which is typed to and shows what it writes", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    await client.ask("send_text", { session: emulator.session, text: "echo $((40 + 2)) $TERM_PROGRAM\r" });
    await shown(client, emulator.session, /\b42 iTerm\.app$/m);
  });

  it("gets a poor environment, whoever asks for it", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const id = await split(
      client,
      emulator.session,
      running("/bin/sh -c 'env; echo that is all'", { "Close Sessions On End": 0 }),
    );
    const text = await shown(client, id, /^that is all$/m);
    expect(text).toMatch(/^PATH=\/usr\/bin:\/bin:\/usr\/sbin:\/sbin$/m);
    expect(text).toContain(`:${id}`);
    expect(text).not.toMatch(/^(NODE|VITEST|npm)/m);
  });

  it("has its command expanded and split into words", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const command = String.raw`/usr/bin/printf '<%s>' "a b" c\ d 'e"f' x\ny \(session.name)! \(nothing)?`;
    const keep = { Name: "scout", "Close Sessions On End": 0 };
    const id = await split(client, emulator.session, running(command, keep));
    await shown(client, id, /<a b><c d><e"f><x\s*y><scout!><\?>/);
  });

  it("halves the one that it was split from, and cannot be made of two cells", async () => {
    const emulator = await emulatorOf({ width: 11, height: 5 });
    const client = await clientOf(emulator);
    await split(client, emulator.session);
    await split(client, emulator.session);
    const third = await client.ask("split_pane", { session: emulator.session, split_direction: "VERTICAL" });
    expect(third.status).toBe("CANNOT_SPLIT");
    const below = await client.ask("split_pane", {
      session: emulator.session,
      split_direction: "HORIZONTAL",
    });
    expect(below.status).toBe("OK");
    const again = await client.ask("split_pane", {
      session: emulator.session,
      split_direction: "HORIZONTAL",
    });
    expect(again.status).toBe("CANNOT_SPLIT");
    const unknown = await client.ask("split_pane", { session: "nobody" });
    expect(unknown.status).toBe("SESSION_NOT_FOUND");
    const { root } = (await client.ask("list_sessions")).windows[0].tabs[0];
    const grids = (node: Message): Message[] =>
      node.links.flatMap((link: Message) => (link.node ? grids(link.node) : [link.session.grid_size]));
    for (const { width, height } of grids(root)) expect(Math.min(width, height)).toBeGreaterThanOrEqual(2);
    expect(grids(root)).toHaveLength(4);
  });

  it("and its program know its size, also after another was closed", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const id = await split(client, emulator.session);
    for (const session of [emulator.session, id])
      await client.ask("send_text", { session, text: "stty size\r" });
    await shown(client, emulator.session, /\b50 (99|100)$/m);
    await shown(client, id, /\b50 (99|100)$/m);
    emulator.app.close(id);
    await client.ask("send_text", { session: emulator.session, text: "stty size\r" });
    await shown(client, emulator.session, /\b50 200$/m);
  });

  it("takes the focus in its tab when it opens, and gives it back when asked to", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const id = await split(client, emulator.session);
    expect(emulator.panes().find((line) => line.endsWith("active"))).toContain(id);
    await client.ask("activate", { session_id: emulator.session, select_session: true });
    expect(emulator.panes().find((line) => line.endsWith("active"))).toContain(emulator.session);
    expect((await client.ask("activate", { session_id: "nobody" })).status).toBe("BAD_IDENTIFIER");
  });

  it("opens in a tab behind, in a window that is there", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const [{ window_id: window }] = (await client.ask("list_sessions")).windows;
    const tab = await client.ask("create_tab", { window_id: window, tab_index: 1, select_tab: false });
    expect(tab).toMatchObject({ status: "OK", window_id: window });
    expect(emulator.panes()[0]).toMatch(/shown active$/);
    expect((await client.ask("create_tab", { window_id: "none" })).status).toBe("INVALID_WINDOW_ID");
    expect((await client.ask("create_tab", { window_id: window, tab_index: 9 })).status).toBe(
      "INVALID_TAB_INDEX",
    );
    expect((await client.ask("create_tab", { select_tab: false })).window_id).not.toBe(window);
  });

  it("carries variables of users, and tells of its process", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const set = [{ name: "user.owner", value: '"us"' }];
    expect((await client.ask("variable", { session_id: emulator.session, set })).status).toBe("OK");
    expect(await variable(client, emulator.session, "user.owner")).toBe("us");
    expect(await variable(client, emulator.session, "user.other")).toBe(null);
    const pid = await variable(client, emulator.session, "pid");
    expect(identityOf(Number(pid))).toBeDefined();
    const bad = { session_id: emulator.session, set: [{ name: "pid", value: "1" }] };
    expect((await client.ask("variable", bad)).status).toBe("INVALID_NAME");
    expect((await client.ask("variable", { get: ["pid"] })).status).toBe("MISSING_SCOPE");
  });

  it("logs what it shows where its profile says so", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const log = {
      "Automatically Log": true,
      "Log Directory": emulator.home,
      "Log Filename Format": "pane.log",
    };
    await split(client, emulator.session, running("/bin/echo hello", log));
    const file = path.join(emulator.home, "pane.log");
    await until(() => fs.existsSync(file) && fs.readFileSync(file, "utf8") === "hello\r\n", "the log");
  });
});

describe("an end", () => {
  it("is told at once where the program ends, and takes the pane along unless that is to stay", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    expect((await client.ask("notification", { subscribe: true, notification_type: 7 })).status).toBe("OK");
    expect((await client.ask("notification", { subscribe: true, notification_type: 7 })).status).toBe(
      "ALREADY_SUBSCRIBED",
    );
    const id = await split(client, emulator.session, running("/bin/sh -c 'read x'"));
    const kept = await split(
      client,
      emulator.session,
      running("/bin/echo done", { "Close Sessions On End": 0 }),
    );
    await client.ask("send_text", { session: id, text: "\r" });
    const ended = () => client.news.map((news) => news.terminate_session_notification?.session_id);
    await until(() => ended().includes(id) && ended().includes(kept), "the news");
    expect(emulator.panes().join()).not.toContain(id);
    expect(emulator.panes().join()).toContain(kept);
    expect((await client.ask("send_text", { session: kept, text: "x" })).status).toBe("SESSION_NOT_FOUND");
    expect((await client.ask("split_pane", { session: kept })).status).toBe("SESSION_NOT_FOUND");
    await shown(client, kept, /done/);
    expect((await client.ask("notification", { subscribe: false, notification_type: 7 })).status).toBe("OK");
    expect((await client.ask("notification", { subscribe: false, notification_type: 7 })).status).toBe(
      "NOT_SUBSCRIBED",
    );
  });

  it("by a close takes the pane at once, and the program only when that cannot be undone any more", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    await client.ask("notification", { subscribe: true, notification_type: 7 });
    await client.ask("notification", { subscribe: true, notification_type: 8 });
    const soft = { "Prompt Before Closing 2": 0, "Session Close Undo Timeout": 1 };
    const id = await split(client, emulator.session, running("/bin/sleep 300", soft));
    const identity = identityOf(Number(await variable(client, id, "pid")));
    const close = { sessions: { session_ids: [id] } };
    expect(await client.ask("close", close)).toMatchObject({ statuses: ["OK"] });
    expect(emulator.panes().join()).not.toContain(id);
    expect(liveness(identity!)).toBe("alive");
    expect(client.news.filter((news) => news.terminate_session_notification)).toEqual([]);
    expect(client.news.filter((news) => news.layout_changed_notification)).not.toEqual([]);
    await until(
      () => client.news.some((news) => news.terminate_session_notification?.session_id === id),
      "the news",
    );
    await until(() => liveness(identity!) === "gone", "the end");
    expect(await client.ask("close", close)).toMatchObject({ statuses: ["NOT_FOUND"] });
  });

  it("is asked for where the profile wants that, unless it is forced", async () => {
    const emulator = await emulatorOf();
    const client = await clientOf(emulator);
    const id = await split(
      client,
      emulator.session,
      running("/bin/sleep 300", { "Session Close Undo Timeout": 0 }),
    );
    const close = { sessions: { session_ids: [id] } };
    expect(await client.ask("close", close)).toMatchObject({ statuses: ["USER_DECLINED"] });
    emulator.faults.declinesClose = true;
    expect(await client.ask("close", { ...close, force: true })).toMatchObject({
      statuses: ["USER_DECLINED"],
    });
    emulator.faults.declinesClose = false;
    expect(await client.ask("close", { ...close, force: true })).toMatchObject({ statuses: ["OK"] });
  });

  it("of the connection comes where a test wants it, with what was asked done or not", async () => {
    const emulator = await emulatorOf({ open: true });
    const panes = emulator.panes().length;
    for (const [when, more] of [
      ["before", 0],
      ["after", 1],
    ] as const) {
      const client = await clientOf(emulator);
      emulator.faults[when] = (name) => {
        if (name !== "split_pane") return undefined;
        emulator.drop();
        return "ignore";
      };
      void client.ask("split_pane", { session: emulator.session });
      await client.closed;
      delete emulator.faults[when];
      expect(emulator.panes()).toHaveLength(panes + more);
    }
  });
});
