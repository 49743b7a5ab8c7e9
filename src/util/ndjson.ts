import type { Readable } from "node:stream";

/** Longest accepted line in bytes; a peer that sends more is cut off rather than buffered without bound. */
export const maxLineBytes = 8 * 1024 * 1024;

/**
 * Calls `onLine` for every complete line of a stream, in order. A last line without newline is not delivered (it may be
 * torn). A line beyond {@link maxLineBytes} destroys the stream with an error. Add your own `error` and `close` listeners.
 */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let parts: Buffer[] = [];
  let held = 0;
  stream.on("data", (chunk: Buffer | string) => {
    let rest = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8");
      parts = [];
      held = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
    if (rest.length > 0) {
      parts.push(rest);
      held += rest.length;
      if (held > maxLineBytes) stream.destroy(new Error(`a line of more than ${maxLineBytes} bytes`));
    }
  });
}
