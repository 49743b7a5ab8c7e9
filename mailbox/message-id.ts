import { randomBytes } from "node:crypto";
import { v7 } from "uuid";

let last = { msecs: 0, seq: 0 };

/** A new message id: a UUIDv7, greater than all that this process made before, also where the clock steps back. */
export function newMessageId(): string {
  // Given to uuid, which would else load Web Crypto for it: a good part of what `troupe send` costs.
  const random = randomBytes(16);
  const msecs = Date.now();
  last = msecs > last.msecs ? { msecs, seq: random.readUInt32BE(6) >>> 1 } : { ...last, seq: last.seq + 1 };
  return v7({ ...last, random });
}
