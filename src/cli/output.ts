import type { Io } from "./io.js";

/** Prints a result: with `--json` one JSON document on one line, else `text`, which ends with a newline if it is not empty. */
export async function printResult(io: Io, json: boolean, document: unknown, text: string): Promise<void> {
  await io.print(json ? `${JSON.stringify(document)}\n` : text);
}
