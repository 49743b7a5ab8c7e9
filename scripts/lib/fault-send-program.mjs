// Sends messages through the library, all at once, and prints each id once it is stored.
//
//   node fault-send-program.mjs LIBRARY MAILBOX ID...
import fs from "node:fs";

const [library = "", dir = "", ...ids] = process.argv.slice(2);
try {
  /** @type {typeof import("../../mailbox/index.js")} */
  const { openMailbox } = await import(library);
  const mailbox = openMailbox(dir);
  const sends = ids.map(async (id) => {
    const sentAt = new Date().toISOString();
    await mailbox.send({ v: 1, id, from: "quiet", to: "user", sentAt, kind: "text", text: `text of ${id}` });
    print(id);
  });
  const results = await Promise.allSettled(sends);
  const failed = results.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
} catch (error) {
  const { message, remedy } = /** @type {Error & { remedy?: string }} */ (error);
  fs.writeSync(2, `troupe: ${message}\n${remedy === undefined ? "" : `  ${remedy}\n`}`);
  process.exitCode = 1;
}

/** @param {string} id */
function print(id) {
  try {
    fs.writeSync(1, `${id}\n`);
  } catch (error) {
    throw Object.assign(/** @type {Error} */ (error), {
      remedy: "mend the standard output; the message is stored",
    });
  }
}
