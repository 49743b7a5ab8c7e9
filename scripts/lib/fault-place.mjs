import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createScratchTeam } from "./scratch-team.mjs";
import { run } from "./strace.mjs";

const hour = 3_600_000;

/** @typedef {Awaited<ReturnType<typeof createPlace>>} Place */

/**
 * A scratch team in a home of its own, with the looks at its mail that the checks of all scenarios share. Each gives, in
 * words, what is wrong.
 * @param {string} home
 * @param {string} command the built `troupe`
 * @param {readonly string[]} [members]
 */
export async function createPlace(home, command, members = ["user", "quiet"]) {
  /** @type {typeof import("../../mailbox/index.js")} */
  const mailbox = await import(pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href);
  const team = await createScratchTeam(home, mailbox, members);
  const boxes = members.map(team.mailboxOf);
  let serial = 0;

  const roomsOf = (/** @type {string} */ member, /** @type {string} */ id) =>
    ["new", "cur", "done", "bad"].flatMap((room) =>
      fs
        .readdirSync(path.join(team.mailboxOf(member), room))
        .filter((file) => file === `${id}.json` || file.startsWith(`${id}~`))
        .map(() => room),
    );

  return {
    home,
    command,
    mailbox,
    team,
    env: team.env,
    roomsOf,
    /** An id that was not there before. */
    nextId: () => `fault-${String(++serial).padStart(6, "0")}`,
    /** Forgets all mail, and the person's key, so that its making is disturbed too. */
    reset() {
      for (const box of boxes)
        for (const room of ["tmp", "new", "cur", "done", "bad"]) emptyDirectory(path.join(box, room));
      fs.rmSync(path.join(home, "keys"), { recursive: true, force: true });
    },
    /**
     * Stores a message without any fault and gives its id.
     * @param {string} to @param {object} [fields]
     */
    store(to, fields) {
      const id = this.nextId();
      const sentAt = new Date().toISOString();
      const message = { v: 1, id, from: "quiet", to, sentAt, kind: "text", text: id, ...fields };
      mailbox.storeMessageSync(team.mailboxOf(to), message);
      return id;
    },
    /**
     * A message is where one mailbox holds it, once, or nowhere unless it was told as stored.
     * @param {string} member @param {string} id @param {boolean} told
     */
    once(member, id, told) {
      const rooms = roomsOf(member, id);
      if (told && rooms.length === 0) return [`${id} was told as stored for ${member}, but is not there`];
      return rooms.length > 1 ? [`${id} is there for ${member} more than once: [${rooms}]`] : [];
    },
    /**
     * A reader without faults, for the user the real command, gets exactly `ids`, and nothing stays behind.
     * @param {string} member @param {readonly string[]} ids
     */
    async readRest(member, ids) {
      const { found, wrong } = await (member === "user" ? readAsUser() : readAs(member));
      if (String([...found].sort()) !== String([...ids].sort()))
        wrong.push(`the next reader of ${member} got [${found}], expected [${ids}]`);
      for (const room of ["new", "cur", "bad"]) {
        const left = fs.readdirSync(path.join(team.mailboxOf(member), room));
        if (left.length > 0) wrong.push(`left in ${room}/ of ${member}: ${left}`);
      }
      return wrong;
    },
    /** Files that nobody needs and that no sweep removes. */
    async leftovers() {
      for (const box of boxes) await mailbox.pruneMailbox(box, Date.now() + 1.1 * hour);
      const files = fs.readdirSync(home, { recursive: true, withFileTypes: true });
      return files
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(home, path.join(entry.parentPath, entry.name)))
        .filter((file) => !expectedFiles.test(file))
        .map((file) => `left behind: ${file}`);
    },
  };

  async function readAsUser() {
    const program = { argv: [process.execPath, command, "inbox", "--json"], env: team.env };
    const { stdout, stderr, exitCode } = await run(program);
    const wrong = exitCode === 0 ? [] : [`the next reader: exit ${exitCode}: ${stderr}`];
    return { found: idsInDocument(stdout), wrong };
  }

  /** @param {string} member */
  async function readAs(member) {
    const box = mailbox.openMailbox(team.mailboxOf(member));
    const { messages, problems } = box.claim();
    const found = messages.map(({ id }) => id);
    box.acknowledge(found);
    return { found, wrong: problems.map(({ file, reason }) => `${file}: ${reason}`) };
  }
}

const expectedFiles = new RegExp(
  `^(${[
    "text\\.txt|model\\.yaml",
    "keys/user\\.pem",
    "teams/[^/]+/(team|members/\\w+)\\.json",
    "teams/[^/]+/mail/\\w+/(mailbox|(new|cur|done)/[^.][^/]*)\\.json",
    "teams/[^/]+/run/\\w+/(key\\.pem|spec\\.json|transcript\\.jsonl)",
  ].join("|")})$`,
);

/**
 * How a command must end that was not killed: in time, without a stack trace, and a failure in one line, with what to do.
 * @param {import("./strace.mjs").Ending} result
 * @param {{ stream?: number }} injection
 * @param {(stdout: string) => boolean} [told] whether stdout tells the failure in the command's own way
 */
export function manners({ exitCode, stdout, stderr, stuck }, { stream }, told = () => false) {
  if (stuck) return ["it did not end in time"];
  // What was struck is what it would have told it on.
  if (exitCode === null || stream === 2) return [];
  const wrong = [];
  if (/^\s+at /m.test(stderr)) wrong.push("it printed a stack trace");
  const odd = stderr.split("\n").filter((line) => !/^(troupe: .+| {2}\S.*|)$/.test(line));
  if (odd.length > 0) wrong.push(`it printed: ${odd[0]}`);
  if (exitCode === 0 || told(stdout)) return wrong;
  const { error } = valuesIn(stdout).find((value) => value.error !== undefined) ?? {};
  const lines = stderr.split("\n").filter((line) => line.startsWith("troupe: "));
  const failures = lines.length + (error === undefined ? 0 : 1);
  if (failures === 0) wrong.push(`it failed (exit ${exitCode}) and did not say why`);
  if (error === undefined && lines.length > 1) wrong.push("it told its failure more than once");
  const remedied = error?.remedy !== undefined || /^ {2}\S/m.test(stderr);
  if (!remedied) wrong.push("it said nothing about what to do");
  if (/unexpected failure/.test(stderr) || error?.code === "unexpected") wrong.push("nobody foresaw it");
  return wrong;
}

/**
 * The ids in the output of `inbox --json`: a document with all mail, and behind it one about a failure if there was one.
 * @param {string} stdout
 * @returns {string[]}
 */
export function idsInDocument(stdout) {
  return valuesIn(stdout).flatMap(({ messages = [] }) =>
    messages.map((/** @type {{ id: string }} */ { id }) => id),
  );
}

/**
 * What the lines of JSON hold; a torn last one does not count as printed.
 * @param {string} stdout
 */
export function valuesIn(stdout) {
  return stdout
    .split("\n")
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return []; // text for people
      }
    });
}

/** @param {string} directory */
function emptyDirectory(directory) {
  for (const name of fs.readdirSync(directory)) fs.rmSync(path.join(directory, name));
}
