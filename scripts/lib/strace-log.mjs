import path from "node:path";

/**
 * A system call as strace saw it. `start` and `end` are its places in the log, in the order in which things happened: a
 * call lies before another only if its `end` is less than the other's `start`.
 * @typedef {object} TracedCall
 * @property {string} thread
 * @property {string} call
 * @property {string} args with the paths of descriptors, as `-y` writes them
 * @property {string | undefined} result undefined where the thread did not live to see it
 * @property {number} start
 * @property {number} end
 */

/**
 * Reads the log of `strace -f -y`, in the order in which the calls began.
 * @param {string} log
 * @returns {TracedCall[]}
 */
export function parseTrace(log) {
  /** @type {TracedCall[]} */
  const calls = [];
  /** @type {Map<string, TracedCall>} */
  const open = new Map();
  for (const [place, line] of log.split("\n").entries()) {
    const [, thread = "", rest = ""] = /^(\d+)\s+(.*)/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)/.exec(rest);
    const begun = /^(\w+)\((.*)/.exec(rest);
    const call = resumed ? open.get(thread) : begun && { thread, call: begun[1], args: "", start: place };
    if (!call) continue;
    const text = (resumed ?? begun)?.at(-1) ?? "";
    if (!resumed) calls.push(call);
    if (text.endsWith("<unfinished ...>")) open.set(thread, call);
    const whole = /^(.*)\)\s+= (.*)$/.exec(text);
    Object.assign(call, { args: call.args + (whole?.[1] ?? text), result: whole?.[2], end: place });
  }
  return calls;
}

/**
 * Checks in a trace that a message was stored as the protocol demands: its file written, then fsynced, then linked into
 * `new/`, then `new/` fsynced, each after the one before has succeeded, and only then was its id told on stdout.
 * @param {readonly TracedCall[]} calls
 * @param {string} dir the mailbox
 * @param {string} id
 * @returns {string[]} what is wrong, in words
 */
export function durabilityFaults(calls, dir, id) {
  // A broadcast has one draft for all its recipients.
  const drafts = [`${dir}/tmp/${id}.`, `${path.dirname(dir)}/.out/${id}.`];
  const isDraft = (/** @type {string} */ args) => drafts.some((draft) => args.includes(draft));
  const creates = ofCall(/^openat$/, isDraft);
  const writes = ofCall(/^p?write/, isDraft);
  const syncs = ofCall(/^f(data)?sync$/, isDraft);
  const links = ofCall(/^link/, (args) => args.includes(`${dir}/new/${id}.json`));
  const syncsDirectory = ofCall(/^fsync$/, (args) => args.includes(`<${dir}/new>`));
  const tells = ofCall(/^write$/, (args) => /^1</.test(args) && args.includes(id));
  const steps = { creates, writes, syncs, links, syncsDirectory, tells };
  let after = -1;
  for (const [step, matches] of Object.entries(steps)) {
    const found = calls.find((call) => call.start > after && matches(call));
    if (found === undefined) return [`${id}: nowhere in the right place: ${step}`];
    if (found.result === undefined || found.result.startsWith("-1")) return [`${id}: failed: ${step}`];
    after = found.end;
  }
  const synced = calls.find(syncs)?.start ?? 0;
  return calls.some((call) => writes(call) && call.end > synced)
    ? [`${id}: written after it was fsynced`]
    : [];
}

/**
 * @param {RegExp} name
 * @param {(args: string) => boolean} concerns
 * @returns {(call: TracedCall) => boolean}
 */
function ofCall(name, concerns) {
  return ({ call, args }) => name.test(call) && concerns(args);
}
