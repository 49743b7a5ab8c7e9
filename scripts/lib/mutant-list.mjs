import { backendMutants } from "./mutants-backends.mjs";
import { mailboxMutants } from "./mutants-mailbox.mjs";

/**
 * @typedef {object} Mutant
 * @property {string} file
 * @property {string} find stands in the file exactly once
 * @property {string} replace
 * @property {string} why what the change breaks
 * @property {readonly string[]} tests paths of the tests that must fail
 * @property {number} [seconds] how long they may take, where the change is likely to hang them
 */

/** @type {readonly Mutant[]} */
export const mutants = [
  ...backendMutants,
  ...mailboxMutants,
  {
    file: "src/util/lock.ts",
    find: "if (highest(dir) !== token ||",
    replace: "if (token < 0 &&",
    why: "who stalled before linking gets the lock, too",
    tests: ["test/util/lock.test.ts"],
  },
  {
    file: "src/util/name-key.ts",
    find: "return fold(fold(name));",
    replace: "return fold(name);",
    why: "a capital sharp s is another letter than a small one",
    tests: ["test/util/name-key.test.ts"],
  },
  {
    file: "mailbox/place.ts",
    find: "if (existing.equals(bytes) || meaningOf(existing, id) === meaningOf(bytes, id))",
    replace: "if (existing !== undefined)",
    why: "another message with the same id is taken for a repeat and lost",
    tests: ["test/mailbox/send.test.ts"],
  },
  {
    file: "mailbox/receipts.ts",
    find: "look < 2",
    replace: "look < 1",
    why: "a message that moves while one looks is unknown",
    tests: ["test/mailbox/receipts.test.ts"],
  },
  {
    file: "mailbox/claim.ts",
    find: 'claimantLiveness(claimant, self) === "gone"',
    replace: 'claimantLiveness(claimant, self) !== "unknown"',
    why: "the mail of a running reader is taken away from it",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/message-file.ts",
    find: " | fs.constants.O_NONBLOCK",
    replace: "",
    why: "a FIFO in a mailbox hangs its reader",
    seconds: 90,
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/seal.ts",
    find: "return verify(null, bytes, key, signature);",
    replace: "return verify(null, bytes, key, signature) || signature.length === 64;",
    why: "any seal proves any sender",
    tests: ["test/mailbox/seal.test.ts"],
  },
  {
    file: "src/cli/commands/inbox.ts",
    find: "await printAll(view, mail);",
    replace: "mailbox.acknowledge(mail.map(({ id }) => id));\n    await printAll(view, mail);",
    why: "mail counts as seen before it is printed",
    tests: ["test/faults.test.ts"],
  },
  {
    file: "backends/process-tree.ts",
    find: 'if (identity !== undefined && liveness(identity) === "alive") pids.add(identity.pid);',
    replace: "if (identity !== undefined) pids.add(identity.pid);",
    why: "a process that got a dead one's number is killed",
    tests: ["test/backends/process-tree.test.ts"],
  },
  {
    file: "backends/process-tree.ts",
    find: "carriesRunId(pid, tree.runId)",
    replace: "carriesRunId(pid, tree.runId) === undefined",
    why: "a child in a session of its own survives its teammate",
    tests: ["test/backends/process-tree.test.ts"],
  },
  {
    file: "src/agent/query.ts",
    find: "const waiting = more ? await messages.take() : [];",
    replace: "const waiting: readonly IncomingMessage[] = [];",
    why: "mail that comes as the model stops is not looked at",
    tests: ["test/agent/query.test.ts"],
  },
  {
    file: "src/agent/query.ts",
    find: 'await params.transcript.append({ type: "user", message, messageIds: ids });\n    conversation.push(message);',
    replace:
      'conversation.push(message);\n    await params.transcript.append({ type: "user", message, messageIds: [] });',
    why: "the transcript does not tell which mail came in",
    tests: ["test/agent/query.test.ts"],
  },
  {
    file: "src/agent/message-frame.ts",
    find: "\\n${escapeText(frame.text)}\\n",
    replace: "\\n${frame.text}\\n",
    why: "a text can imitate a message of somebody else",
    tests: ["test/agent/message-frame.test.ts"],
  },
  {
    file: "src/agent/permissions/judge.ts",
    find: "if (denying !== undefined) return deny(",
    replace: 'if (denying !== undefined && policy.mode !== "bypassPermissions") return deny(',
    why: "deny rules do not hold in bypassPermissions",
    tests: ["test/agent/permissions/permissions.test.ts"],
  },
  {
    file: "src/agent/tools/containment.ts",
    find: "depthIn(target, allowed) > depthIn(target, denied)",
    replace: "depthIn(target, allowed) >= depthIn(target, denied)",
    why: "a directory that is closed and open at once is open",
    tests: ["test/agent/tools/containment.test.ts"],
  },
  {
    file: "src/team/trusted-sender.ts",
    find: "if (verifies(message, candidate.publicKey)) return candidate.name;",
    replace: "return candidate.name;",
    why: "a sender is believed without a valid seal",
    tests: ["test/team/trusted-sender.test.ts"],
  },
  {
    file: "src/team/names.ts",
    find: "if (scripts.length > 1)",
    replace: "if (scripts.length > 2)",
    why: "two names can look alike",
    tests: ["test/team/names.test.ts"],
  },
  {
    file: "src/team/member-state.ts",
    find: "ended: [],",
    replace: 'ended: ["working"],',
    why: "a late report brings an ended member back to life",
    tests: ["test/team/member-state.test.ts"],
  },
];
