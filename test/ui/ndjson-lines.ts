import type { Socket } from "node:net";

/** Calls `onValue` for every JSON line that comes over `socket`. */
export function ndjsonLines<T>(socket: Socket, onValue: (value: T) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onValue(JSON.parse(line) as T);
  });
}
