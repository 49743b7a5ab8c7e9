// Loaded before a program that faults are injected into: makes harmless calls of one kind on one thread, so that the
// numbers of that thread's later calls are greater than those of any other. strace counts per thread, and strikes each
// thread whose count fits. TROUPE_FAULT_PAD is `main:CALL` or `pool:CALL`; the pool must have one thread.
const fs = require("node:fs");

const [thread, call] = (process.env.TROUPE_FAULT_PAD ?? "").split(":");
delete process.env.TROUPE_FAULT_PAD;

/** More than the other thread makes: than the pool for a program at work, than the main thread for all of Node. */
const paddings = { main: 300, pool: 1500 };
module.exports = { paddings };

const null_ = fs.openSync("/dev/null", "r+");
const byte = Buffer.alloc(1);
/** By the beginning of the call's name: a function of fs and its arguments, with which nothing happens. */
const harmless = {
  openat: ["open", "", "r"],
  read: ["read", null_, byte, 0, 1, null],
  pread: ["read", null_, byte, 0, 1, 0],
  write: ["write", null_, byte, 0, 1, null],
  pwrite: ["write", null_, byte, 0, 1, 0],
  writev: ["writev", null_, [byte, byte]],
  fsync: ["fsync", null_],
  fdatasync: ["fdatasync", null_],
  mkdir: ["mkdir", ""],
  link: ["link", "", ""],
  rename: ["rename", "", ""],
  unlink: ["unlink", ""],
  access: ["access", ""],
  faccessat: ["access", ""],
  statx: ["stat", ""],
};

const name = Object.keys(harmless)
  .filter((start) => call?.startsWith(start))
  .sort((a, b) => b.length - a.length)[0];
if (name !== undefined) {
  const [operation, ...args] = harmless[name];
  for (let made = 0; made < (paddings[thread] ?? 0); made++)
    if (thread === "pool") fs[operation](...args, () => undefined);
    else attempt(() => fs[`${operation}Sync`](...args));
}

function attempt(work) {
  try {
    work();
  } catch {
    // It was made, and that is all.
  }
}
