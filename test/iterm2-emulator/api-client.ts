import net from "node:net";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { until } from "../helpers/until.js";
import { type EmulatorOptions, type Iterm2Emulator, startIterm2Emulator } from "./emulator.js";
import { type Message, wire } from "./schema.js";

/** An emulator that ends with the test. */
export async function emulatorOf(options: EmulatorOptions = {}): Promise<Iterm2Emulator> {
  const emulator = await startIterm2Emulator(options);
  onTestFinished(() => emulator.stop());
  return emulator;
}

/** Headers that let a client in. */
export const goodHeaders = (cookie: string): Record<string, string> => ({
  "x-iterm2-library-version": "test 1.0",
  "x-iterm2-cookie": cookie,
});

/** A plain client of the API, by the messages' own names. */
export interface ApiClient {
  ask(name: string, request?: Message): Promise<Message>;
  readonly news: readonly Message[];
  readonly closed: Promise<void>;
}

/** Connects; rejects with `HTTP <status>` where it is turned away. */
export async function connectClient(
  socket: string,
  headers: Readonly<Record<string, string>>,
  { protocol = "api.iterm2.com", origin = "ws://localhost/", url = "ws://localhost/" } = {},
): Promise<ApiClient> {
  const web = new WebSocket(url, protocol, {
    createConnection: () => net.connect(socket),
    perMessageDeflate: false,
    origin,
    headers,
  });
  onTestFinished(() => web.terminate());
  const waiting = new Map<number, (answer: Message) => void>();
  const news: Message[] = [];
  let last = 0;
  web.on("message", (data) => {
    const { submessage, ...message } = wire.server.decode(data as Buffer);
    if (message.notification === undefined) waiting.get(message.id)?.(message[submessage]);
    else news.push(message.notification);
  });
  const closed = new Promise<void>((resolve) => web.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    web.once("open", resolve);
    web.once("unexpected-response", (_, response) => reject(new Error(`HTTP ${response.statusCode}`)));
    web.on("error", reject);
  });
  return {
    news,
    closed,
    ask(name, request = {}) {
      const id = ++last;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        web.send(wire.client.encode({ id, [`${name}_request`]: request }));
      });
    },
  };
}

/** The lines that a session shows, once they are as wanted. */
export function shown(client: ApiClient, session: string, wanted: RegExp): Promise<string> {
  let text = "";
  const look = async () => {
    const { contents } = await client.ask("get_buffer", { session, line_range: { trailing_lines: 500 } });
    text = contents.map((line: Message) => line.text).join("\n");
    return wanted.test(text) && text;
  };
  return until(look, wanted, () => text);
}
