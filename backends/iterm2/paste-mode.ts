import fs from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { errnoOf } from "../../src/util/errors.js";

/** Whether the program behind a log of a terminal wants a paste to be marked as one, by the last thing that it said of that. */
export interface PasteMode {
  /** Reads what the log has got since the last time; where there is none, nothing was said. */
  isMarked(): Promise<boolean>;
}

const blockBytes = 1024 * 1024;

export function openPasteMode(log: string): PasteMode {
  const decoder = new StringDecoder("utf8");
  let offset = 0;
  let edge = "";
  let marked = false;

  function take(text: string): void {
    // A sequence may be cut by the end of a block.
    for (const [, set] of (edge + text).matchAll(asks)) marked = set === "h";
    edge = (edge + text).slice(-32);
  }

  return {
    async isMarked() {
      try {
        const file = await fs.open(log, "r");
        try {
          const block = Buffer.alloc(blockBytes);
          for (;;) {
            const { bytesRead } = await file.read(block, 0, blockBytes, offset);
            if (bytesRead === 0) break;
            offset += bytesRead;
            take(decoder.write(block.subarray(0, bytesRead)));
          }
        } finally {
          await file.close();
        }
      } catch (error) {
        // A teammate can put anything into the place of its log.
        if (errnoOf(error) === undefined) throw error;
      }
      return marked;
    },
  };
}

/** Where a program asks for bracketed pastes, alone or among other modes, or no more. */
const asks = /\u001b\[\?(?:\d+;)*2004(?:;\d+)*([hl])/g;
