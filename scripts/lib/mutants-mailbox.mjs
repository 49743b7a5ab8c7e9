/** @typedef {import("./mutant-list.mjs").Mutant} Mutant */

const durable = ["test/mailbox/durability.test.ts"];

/** What makes a stored message durable. @type {readonly Mutant[]} */
const durability = [
  {
    file: "mailbox/draft.ts",
    find: "await fsync(fd);\n  } catch (error) {\n    removeLeftover",
    replace: "await Promise.resolve();\n  } catch (error) {\n    removeLeftover",
    why: "the library links a file that a power cut may empty",
    tests: durable,
  },
  {
    file: "mailbox/draft.ts",
    find: "await fsync(fd);\n  } catch (error) {\n    removeLeftover",
    replace: "void fsync(fd).catch(() => undefined);\n  } catch (error) {\n    removeLeftover",
    why: "the library links a file before its fsync is over",
    tests: durable,
  },
  {
    file: "mailbox/draft.ts",
    find: "fs.fsyncSync(fd);\n  } catch (error) {\n    removeLeftover",
    replace: "fs.fstatSync(fd);\n  } catch (error) {\n    removeLeftover",
    why: "the command links a file that a power cut may empty",
    tests: durable,
  },
  {
    file: "mailbox/draft.ts",
    find: "await fsync(fd);\n  } catch (error) {\n    if",
    replace: "await Promise.resolve();\n  } catch (error) {\n    if",
    why: "the library tells a name as stored that a power cut may take back",
    tests: durable,
  },
  {
    file: "mailbox/draft.ts",
    find: "fs.fsyncSync(fd);\n  } catch (error) {\n    if",
    replace: "fs.fstatSync(fd);\n  } catch (error) {\n    if",
    why: "the command tells a name as stored that a power cut may take back",
    tests: durable,
  },
  {
    file: "mailbox/sender.ts",
    find: "else await gates.directories(() => syncDirectory(directory));",
    replace: "else void gates.directories(() => syncDirectory(directory));",
    why: "a message is told as stored before the directory is on disk",
    tests: durable,
  },
  {
    file: "mailbox/router.ts",
    find: "makeDurableSync(mailboxOf(outcome.name), message.id);",
    replace: "",
    why: "a broadcast is told as stored before the directories are on disk",
    tests: durable,
  },
  {
    file: "mailbox/sender.ts",
    find: "if (isQuick && isAlone && only?.shared === undefined) syncDirectorySync(directory);",
    replace: "if (isQuick && isAlone && only?.shared === undefined) return;",
    why: "a lone message is told as stored before the directory is on disk",
    tests: ["test/mailbox/sender.test.ts"],
  },
];

/** What stores a message once. @type {readonly Mutant[]} */
const storing = [
  {
    file: "mailbox/place.ts",
    find: 'if (errnoOf(error) === "EEXIST") continue;',
    replace: 'if (errnoOf(error) === "EEXIST") return { id, duplicate: true };',
    why: "a message whose id another took at the last moment is taken for a repeat and lost",
    tests: ["test/mailbox/races.test.ts"],
  },
  {
    file: "mailbox/place.ts",
    find: '["new", "cur", "done"] as const',
    replace: '["done", "cur", "new"] as const',
    why: "a repeat overlooks a message that moves on, and is stored again",
    tests: ["test/mailbox/races.test.ts"],
  },
  {
    file: "mailbox/place.ts",
    find: '["new", "cur", "done"] as const',
    replace: '["new", "cur"] as const',
    why: "a repeat of a seen message is stored again",
    tests: ["test/mailbox/send.test.ts"],
  },
  {
    file: "mailbox/rename-lock.ts",
    find: 'fs.closeSync(fs.openSync(lock, "wx", 0o600));',
    replace: 'fs.closeSync(fs.openSync(lock, "w", 0o600));',
    why: "without links two senders of one id hold its lock at once",
    tests: ["test/mailbox/races.test.ts"],
  },
  {
    file: "mailbox/rename-lock.ts",
    find: "if (Math.abs(Date.now() - since) > lockMs) removeLeftover(lock);",
    replace: "",
    why: "the lock of a killed sender holds for ever",
    tests: ["test/mailbox/send.test.ts"],
  },
  {
    file: "mailbox/key-file.ts",
    find: 'claimantLiveness(maker, selfIdentity()) === "gone"',
    replace: 'claimantLiveness(maker, selfIdentity()) !== "unknown"',
    why: "the draft of a key that is being made is taken away",
    tests: ["test/mailbox/key-file.test.ts"],
  },
];

/** What gives a message to one reader, and keeps it until it was seen. @type {readonly Mutant[]} */
const claiming = [
  {
    file: "mailbox/claim.ts",
    find: "if (!moveFile(file, own)) return undefined;",
    replace: "if (!moveFile(file, done(id))) return undefined;",
    why: "mail counts as seen when it is claimed",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/claim.ts",
    find: "if (fs.existsSync(done(id))) {",
    replace: "if (claimant === undefined) {",
    why: "a repeat of what has been seen is handed over again",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/claim.ts",
    find: "if (fs.existsSync(own)) {",
    replace: "if (claimant === undefined) {",
    why: "a repeat of what is being worked on is handed over again",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/claimant.ts",
    find: 'claimantOf(now).split("-")[1] === startTime ? "alive"',
    replace: 'claimantOf(now) !== "" ? "alive"',
    why: "a process that got a dead reader's number keeps its mail",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/claimant.ts",
    find: "if (pidNamespace !== undefined && pidNamespace !== ownNamespace)",
    replace: "if (pidNamespace === ownBoot)",
    why: "the mail of a reader in another container is taken away from it",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/message-file.ts",
    find: " | fs.constants.O_NOFOLLOW",
    replace: "",
    why: "a link in a mailbox is read as if its target had been sent",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/message-file.ts",
    find: "if (fs.existsSync(from)) removeLeftover(from);",
    replace: "",
    why: "two names of one file are delivered over and over",
    tests: ["test/mailbox/claim.test.ts"],
  },
  {
    file: "mailbox/message.ts",
    find: "fileName !== undefined && fileName !== messageFile(String(id))",
    replace: "fileName !== undefined && id === undefined",
    why: "a file can bring a message under the id of another",
    tests: ["test/mailbox/message.test.ts"],
  },
];

/** What finds, follows and forgets messages. @type {readonly Mutant[]} */
const following = [
  {
    file: "mailbox/receipts.ts",
    find: 'if (isThere(path.join(dir, "new", file))) return "stored";\n    if (listRoom(dir, "cur").some((name) => name.startsWith(`${id}~`))) return "delivered";\n    if (isThere(path.join(dir, "done", file))) return "seen";',
    replace:
      'if (isThere(path.join(dir, "done", file))) return "seen";\n    if (listRoom(dir, "cur").some((name) => name.startsWith(`${id}~`))) return "delivered";\n    if (isThere(path.join(dir, "new", file))) return "stored";',
    why: "a message that moves on while one looks against its way is unknown",
    tests: ["test/mailbox/races.test.ts"],
  },
  {
    file: "mailbox/prune.ts",
    find: "Math.max(minAgeMs, Math.min(",
    replace: "Math.min(minAgeMs, Math.min(",
    why: "mail that was seen today is removed where there is much of it",
    tests: ["test/mailbox/receipts.test.ts"],
  },
  {
    file: "mailbox/prune.ts",
    find: "Math.min(maxAgeMs, tooMany",
    replace: "Math.max(maxAgeMs, tooMany",
    why: "seen mail beyond the newest thousand stays",
    tests: ["test/mailbox/receipts.test.ts"],
  },
  {
    file: "mailbox/prune.ts",
    find: "if (age > retention.draftMs) removeLeftover(file);",
    replace: "if (age >= 0) removeLeftover(file);",
    why: "what a sender is writing is swept away",
    tests: ["test/mailbox/receipts.test.ts"],
  },
  {
    file: "mailbox/watcher.ts",
    find: "if (!closed) onBell();\n  }",
    replace: "}",
    why: "mail whose event was lost is never found",
    tests: ["test/mailbox/watcher.test.ts"],
  },
  {
    file: "mailbox/reader.ts",
    find: "first !== undefined && !behind && ",
    replace: "first !== undefined && ",
    why: "new mail overtakes mail that could not be read",
    tests: ["test/mailbox/reader.test.ts"],
  },
  {
    file: "mailbox/reader.ts",
    find: "      takeOver = true;\n",
    replace: "",
    why: "the mail of a reader that ended is not taken over",
    tests: ["test/mailbox/reader.test.ts"],
  },
  {
    file: "mailbox/reader.ts",
    find: "while (rung && !ended) {\n        rung = false;",
    replace: "while (rung && !ended) {",
    seconds: 90,
    why: "a reader without mail keeps a core busy",
    tests: ["test/mailbox/reader.test.ts"],
  },
  {
    file: "mailbox/reader.ts",
    find: "if (rest.length > 0) attempt(() => mailbox.release(rest));",
    replace: "",
    why: "what was claimed and not handed over waits for the end of its process",
    tests: ["test/mailbox/reader.test.ts"],
  },
];

/** Changes to the room `mailbox` that its tests must notice. */
export const mailboxMutants = [...durability, ...storing, ...claiming, ...following];
