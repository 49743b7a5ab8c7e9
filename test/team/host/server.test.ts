import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { TeamEvent } from "../../../src/team/events.js";
import { connectHost, type HostConnection, requireHost } from "../../../src/team/host/client.js";
import type { HostMethod } from "../../../src/team/host/protocol.js";
import {
  type Connection,
  type ControlServer,
  type HostHandlers,
  listen,
} from "../../../src/team/host/server.js";
import { type TeamPaths, teamPaths } from "../../../src/team/paths.js";
import { TroupeError } from "../../../src/util/errors.js";
import { maxLineBytes, readLines } from "../../../src/util/ndjson.js";
import { waitUntil } from "../../../src/util/wait.js";
import { temporaryDirectory } from "../../helpers/temp.js";

const event = (text: string): TeamEvent => ({
  at: "2026-01-01T00:00:00.000Z",
  type: "notice",
  level: "info",
  text,
});

interface Served {
  readonly paths: TeamPaths;
  readonly server: ControlServer;
  /** Parameters of all requests that reached a handler. */
  readonly calls: unknown[];
  readonly connections: Connection[];
  connect(): Promise<HostConnection>;
}

/** A server whose handlers only say what they were asked, unless `handlers` has another one. */
async function serve(handlers: Partial<HostHandlers> = {}): Promise<Served> {
  const paths = teamPaths(temporaryDirectory(), "demo-abc123");
  const calls: unknown[] = [];
  const connections: Connection[] = [];
  const methods: readonly HostMethod[] = ["ready", "spawn", "stop", "down", "subscribe", "hello", "report"];
  const all = Object.fromEntries(
    methods.map((method) => [
      method,
      (params: unknown, connection: Connection) => {
        calls.push([method, params]);
        connections.push(connection);
        return { method };
      },
    ]),
  ) as unknown as HostHandlers;
  const server = await listen(paths.socket, { ...all, ...handlers });
  onTestFinished(() => server.close());
  const connect = async () => {
    const connection = await requireHost(paths);
    onTestFinished(() => connection.close());
    return connection;
  };
  return { paths, server, calls, connections, connect };
}

/** A bare connection, and what comes back on it. */
function raw(socket: string): { stream: net.Socket; lines: unknown[]; closed: Promise<void> } {
  const stream = net.connect(socket);
  const lines: unknown[] = [];
  readLines(stream, (line) => lines.push(JSON.parse(line)));
  stream.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => stream.on("close", () => resolve()));
  onTestFinished(() => void stream.destroy());
  return { stream, lines, closed };
}

const soon = { timeoutMs: 10_000 };

describe("requests", () => {
  it("reach the method and bring back its result, each its own", async () => {
    const served = await serve({
      stop: async ({ name }) => {
        await new Promise((resolve) => setTimeout(resolve, name === "slow" ? 50 : 0));
        return { name, how: "asked", report: { found: [], ended: [], survivors: [] } };
      },
    });
    const host = await served.connect();
    const order: string[] = [];
    const stop = async (name: string) => order.push((await host.request("stop", { name })).name);
    await Promise.all([stop("slow"), stop("quick"), host.request("subscribe", {})]);
    expect(order).toEqual(["quick", "slow"]);
    expect(served.calls).toEqual([["subscribe", {}]]);
  });

  it("are kept apart between many clients", async () => {
    const served = await serve({ subscribe: async (params) => params as Record<string, never> });
    const clients = await Promise.all(Array.from({ length: 40 }, served.connect));
    const answers = await Promise.all(
      clients.flatMap((client, i) =>
        [0, 1, 2].map((j) => client.request("subscribe", { name: `${i}.${j}` })),
      ),
    );
    expect(answers).toEqual(clients.flatMap((_, i) => [0, 1, 2].map((j) => ({ name: `${i}.${j}` }))));
  });

  it("bring back errors as they were thrown; what is none of ours as internal", async () => {
    const served = await serve({
      down: () => {
        throw new TroupeError("no-way", "it cannot be", { kind: "limit", remedy: "try later" });
      },
      subscribe: () => Promise.reject(new RangeError("off by one")),
    });
    const host = await served.connect();
    await expect(host.request("down", {})).rejects.toMatchObject({
      code: "no-way",
      message: "it cannot be",
      kind: "limit",
      remedy: "try later",
    });
    await expect(host.request("subscribe", {})).rejects.toMatchObject({
      code: "internal",
      kind: "failed",
      message: expect.stringContaining("off by one"),
    });
  });

  it("of an unknown method, another version or no form are refused, and the connection stays", async () => {
    const { paths, calls } = await serve();
    const { stream, lines } = raw(paths.socket);
    const send = (value: unknown) =>
      stream.write(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
    send({ v: 1, id: 1, method: "toString", params: {} });
    send({ v: 1, id: 2, method: "conquer" });
    send({ v: 2, id: 3, method: "subscribe" });
    send({ id: 4, method: "subscribe" });
    send({ v: 1, id: "5", method: 7 });
    send("null");
    send("{ no json");
    send("\u0000\u00ff");
    send("");
    send({ v: 1, id: 6, method: "subscribe" });
    await waitUntil("replies", () => lines.length === 10, soon);
    const codes = (lines as { id: number; ok: boolean; error?: { code: string } }[]).map(
      ({ id, ok, error }) => `${id} ${error?.code ?? ok}`,
    );
    expect(codes).toEqual([
      "1 unknown-method",
      "2 unknown-method",
      "3 version",
      "4 version",
      "0 unknown-method",
      "0 bad-request",
      "0 internal",
      "0 internal",
      "0 internal",
      "6 true",
    ]);
    expect(JSON.stringify(lines[2])).toContain("troupe down");
    expect(calls).toEqual([["subscribe", {}]]);
  });

  it("without an end are cut off, and disturb nobody else", async () => {
    const served = await serve();
    const { stream, closed, lines } = raw(served.paths.socket);
    const chunk = Buffer.alloc(1024 * 1024, "x");
    for (let sent = 0; sent <= maxLineBytes && !stream.destroyed; sent += chunk.length)
      if (!stream.write(chunk))
        await Promise.race([new Promise((resolve) => stream.once("drain", resolve)), closed]);
    await closed;
    expect(lines).toEqual([]);
    expect(await (await served.connect()).request("subscribe", {})).toEqual({ method: "subscribe" });
  });

  it("torn by the end of their client are dropped", async () => {
    const served = await serve();
    const { stream, closed } = raw(served.paths.socket);
    stream.end('{"v":1,"id":1,"method":"subscribe"}');
    await closed;
    expect(served.calls).toEqual([]);
  });
});

describe("a deadline, a signal or the host's end", () => {
  it("ends a request that the host does not answer; a late answer hurts nobody", async () => {
    let answer: () => void = () => undefined;
    const served = await serve({
      ready: () => new Promise((resolve) => (answer = () => resolve({ failed: [] }))),
    });
    const host = await served.connect();
    await expect(host.request("ready", {}, { timeoutMs: 30 })).rejects.toMatchObject({
      code: "deadline",
      kind: "not-reached",
      message: expect.stringContaining("demo-abc123"),
    });
    answer();
    const stop = new AbortController();
    const waiting = expect(host.request("ready", {}, { signal: stop.signal })).rejects.toThrow("enough");
    stop.abort(new Error("enough"));
    await waiting;
    expect(await host.request("subscribe", {})).toEqual({ method: "subscribe" });
  });

  it("settles what waits when the host goes, and what is asked later", async () => {
    const served = await serve({ ready: () => new Promise(() => undefined) });
    const host = await served.connect();
    const waiting = expect(host.request("ready", {})).rejects.toMatchObject({ code: "host-gone" });
    await host.request("subscribe", {});
    await served.server.close();
    await waiting;
    await host.closed;
    await expect(host.request("subscribe", {})).rejects.toMatchObject({ code: "host-gone" });
    host.tell("subscribe", {});
    host.close();
  });

  it("lets replies that are under way be written before the host goes", async () => {
    const served = await serve();
    const host = await served.connect();
    const asked = host.request("subscribe", {});
    await waitUntil("the call", () => served.calls.length === 1, { ...soon, everyMs: 1 });
    await served.server.close();
    expect(await asked).toEqual({ method: "subscribe" });
  });

  it("is not waited for without bound by a host that goes: a client that reads nothing", async () => {
    const served = await serve();
    const { stream } = raw(served.paths.socket);
    stream.write('{"v":1,"id":1,"method":"subscribe"}\n');
    await waitUntil("the call", () => served.connections.length === 1, soon);
    stream.pause();
    for (let i = 0; i < 50; i++) served.connections[0]?.push(event("x".repeat(100_000)));
    const started = Date.now();
    await served.server.close();
    expect(Date.now() - started).toBeLessThan(8_000);
  });

  it("cuts off a client that reads nothing before its events fill the memory", async () => {
    const served = await serve();
    const { stream, closed } = raw(served.paths.socket);
    stream.write('{"v":1,"id":1,"method":"subscribe"}\n');
    await waitUntil("the call", () => served.connections.length === 1, soon);
    stream.pause();
    let gone = false;
    served.connections[0]?.onClose(() => {
      gone = true;
    });
    for (let i = 0; i < 200 && !gone; i++) {
      served.connections[0]?.push(event("x".repeat(1_000_000)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(gone).toBe(true);
    stream.resume();
    await closed;
  });
});

describe("connections", () => {
  it("carry events in order, beside replies", async () => {
    const served = await serve();
    const host = await served.connect();
    const heard: string[] = [];
    host.onEvent((told) => void (told.type === "notice" && heard.push(told.text)));
    await host.request("subscribe", {});
    for (const text of ["a", "b\n", "ü"]) served.connections[0]?.push(event(text));
    await waitUntil("events", () => heard.length === 3, soon);
    expect(heard).toEqual(["a", "b\n", "ü"]);
  });

  it("tell of the other end's going once, however it went, and at once if it has", async () => {
    const served = await serve();
    for (const end of ["end", "destroy"] as const) {
      const { stream } = raw(served.paths.socket);
      stream.write('{"v":1,"id":1,"method":"hello"}\n');
      const connection = await waitUntil("the call", () => served.connections.shift(), soon);
      let gone = 0;
      connection.onClose(() => gone++);
      stream[end]();
      await waitUntil("news", () => gone > 0, soon);
      connection.onClose(() => gone++);
      expect(gone).toBe(2);
      connection.push(event("to nobody"));
      connection.close();
    }
  });

  it("end with an answer that is none", async () => {
    const socket = path.join(temporaryDirectory(), "teams/demo-abc123/run/host.sock");
    fs.mkdirSync(path.dirname(socket), { recursive: true });
    const paths = teamPaths(socket.split("/teams/")[0]!, "demo-abc123");
    for (const garbage of ["no json\n", "7\n", "null\n", '"x"\n', "[]\n{}\n"]) {
      const server = net.createServer((stream) => {
        stream.on("error", () => undefined);
        stream.on("data", () => {
          stream.write(garbage);
          if (garbage.startsWith("[")) stream.end();
        });
      });
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      const host = await requireHost(paths);
      await expect(host.request("subscribe", {})).rejects.toMatchObject({ code: "host-gone" });
      await host.closed;
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe("the socket", () => {
  it("is its owner's alone, replaces a stale one, and goes with the host", async () => {
    const paths = teamPaths(temporaryDirectory(), "demo-abc123");
    fs.mkdirSync(path.dirname(paths.socket), { recursive: true });
    fs.writeFileSync(paths.socket, "stale");
    const served = await listen(paths.socket, {} as HostHandlers);
    expect(fs.statSync(paths.socket).mode & 0o777).toBe(0o600);
    await served.close();
    expect(fs.existsSync(paths.socket)).toBe(false);
  });

  it("that is missing, stale or a file means that there is no host", async () => {
    const paths = teamPaths(temporaryDirectory(), "demo-abc123");
    expect(await connectHost(paths)).toBeUndefined();
    fs.mkdirSync(path.dirname(paths.socket), { recursive: true });
    fs.writeFileSync(paths.socket, "a file");
    expect(await connectHost(paths)).toBeUndefined();
    fs.rmSync(paths.socket);
    // A socket file outlives the process that was killed; here it is moved aside before its server removes it.
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(`${paths.socket}.live`, resolve));
    fs.renameSync(`${paths.socket}.live`, paths.socket);
    await new Promise((resolve) => server.close(resolve));
    expect(fs.statSync(paths.socket).isSocket()).toBe(true);
    expect(await connectHost(paths)).toBeUndefined();
    await expect(requireHost(paths)).rejects.toMatchObject({
      code: "no-host",
      kind: "not-found",
      remedy: expect.stringContaining("troupe down --team demo-abc123"),
    });
  });

  it("is given up on an aborted signal", async () => {
    const { paths } = await serve();
    await expect(connectHost(paths, AbortSignal.abort(new Error("no")))).rejects.toThrow("no");
  });
});
