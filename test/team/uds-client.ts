import net from "node:net";

/**
 * Writes to a socket as a program of another kind might, and gives the answers: after `lines` of them it leaves; else when the
 * other end closes. With `end` it closes its side after writing.
 */
export function talk(
  socket: string,
  text: string | Buffer,
  options: { readonly lines?: number; readonly end?: boolean } = {},
): Promise<unknown[]> {
  return new Promise((resolve) => {
    let got = "";
    const stream = net.connect(socket);
    const leave = (): void => {
      stream.destroy();
      resolve(
        got
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      );
    };
    stream.setEncoding("utf8").on("data", (chunk) => {
      got += chunk;
      if (options.lines !== undefined && got.split("\n").length > options.lines) leave();
    });
    stream.on("close", leave);
    stream.on("error", () => undefined);
    if (options.end) stream.end(text);
    else stream.write(text);
  });
}
