import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createScratchTeam } from "./scratch-team.mjs";
import { run } from "./strace.mjs";

const hour = 3_600_000;

/**
 * What `scripts/faults` tries: a scenario is prepared once per lane in a home of its own; each round gives the command
 * to disturb and a check that tells, in words, what is wrong afterwards.
 */
export const scenarios = { send, reader, follow };

async function send(home, command) {
  const place = await preparePlace(home, command);
  let round = 0;
  return {
    ...place,
    begin() {
      place.reset();
      const id = `fault-${String(++round).padStart(5, "0")}`;
      const argv = [process.execPath, command, "send", "user", `text of ${id}`, "--id", id];
      return { argv, check: (result) => checkSent(place, argv, id, result) };
    },
  };
}

async function checkSent(place, argv, id, result) {
  const wrong = place.stuck(result);
  const copies = place.roomsOf(id);
  if (result.exitCode === 0 && copies.length !== 1) wrong.push(`told as stored, but it is in [${copies}]`);
  if (copies.length > 1) wrong.push(`more than once: [${copies}]`);
  const again = await run(argv, place);
  if (again.exitCode !== 0) wrong.push(`the repeat: exit ${again.exitCode}: ${again.stderr}`);
  if (place.roomsOf(id).length !== 1) wrong.push(`after the repeat it is in [${place.roomsOf(id)}]`);
  return [...wrong, ...(await place.readRest([id])), ...(await place.leftovers())];
}

async function reader(home, command) {
  const place = await preparePlace(home, command);
  return {
    ...place,
    begin() {
      place.reset();
      const ids = [place.store(), place.store(), place.store()];
      return {
        argv: [process.execPath, command, "inbox", "--json"],
        check: (result) => checkRead(place, ids, wholeDocument(result.stdout), result),
      };
    },
  };
}

async function follow(home, command) {
  const place = await preparePlace(home, command);
  return {
    ...place,
    begin() {
      place.reset();
      const ids = [place.store(), place.store()];
      // One comes while the reader runs.
      const late = () => ids.length < 3 && ids.push(place.store());
      return {
        argv: [process.execPath, command, "inbox", "--follow", "--json"],
        until(stdout) {
          const printed = wholeLines(stdout);
          if (printed.length > 0) late();
          return ids.length === 3 && ids.every((id) => printed.includes(id));
        },
        check(result) {
          late();
          return checkRead(place, ids, wholeLines(result.stdout), result);
        },
      };
    },
  };
}

async function checkRead(place, ids, printed, result) {
  const wrong = place.stuck(result);
  for (const id of ids) {
    const rooms = place.roomsOf(id);
    if (rooms.length !== 1) wrong.push(`${id} is in [${rooms}]`);
    if (rooms.includes("done") && !printed.includes(id))
      wrong.push(`${id} was marked as seen, but not printed`);
  }
  const rest = ids.filter((id) => !place.roomsOf(id).includes("done"));
  return [...wrong, ...(await place.readRest(rest)), ...(await place.leftovers())];
}

/** A scratch team with the looks at its `user` mailbox that the checks share. */
async function preparePlace(home, command) {
  const mailbox = await import(pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href);
  const team = await createScratchTeam(home, mailbox);
  const dir = team.mailboxOf("user");
  const room = (name) => fs.readdirSync(path.join(dir, name));
  let stored = 0;
  return {
    home,
    env: team.env,
    /** Forgets seen mail, and the person's key, so that its making is disturbed too. */
    reset() {
      for (const name of room("done")) fs.rmSync(path.join(dir, "done", name));
      fs.rmSync(path.join(home, "keys"), { recursive: true, force: true });
    },
    /** Stores a message and gives its id. */
    store() {
      const id = `mail-${String(++stored).padStart(6, "0")}`;
      const sentAt = new Date().toISOString();
      mailbox.storeMessageSync(dir, { v: 1, id, from: "quiet", to: "user", sentAt, kind: "text", text: id });
      return id;
    },
    roomsOf: (id) =>
      ["new", "cur", "done", "bad"].flatMap((name) =>
        room(name)
          .filter((file) => file === `${id}.json` || file.startsWith(`${id}~`))
          .map(() => name),
      ),
    stuck: ({ stuck }) => (stuck ? ["it did not end in time"] : []),
    /** A reader without faults must get exactly what has not been seen. */
    async readRest(ids) {
      const { stdout, stderr, exitCode } = await run([process.execPath, command, "inbox", "--json"], {
        env: team.env,
      });
      const wrong = [];
      const printed = wholeDocument(stdout);
      if (exitCode !== 0) wrong.push(`the next reader: exit ${exitCode}: ${stderr}`);
      if (String([...printed].sort()) !== String([...ids].sort()))
        wrong.push(`the next reader got [${printed}], expected [${ids}]`);
      for (const name of ["new", "cur", "bad"])
        if (room(name).length > 0) wrong.push(`left in ${name}/: ${room(name)}`);
      return wrong;
    },
    /** Files that nobody needs and that no sweep removes. */
    async leftovers() {
      await mailbox.pruneMailbox(dir, Date.now() + 1.1 * hour);
      const files = fs.readdirSync(home, { recursive: true, withFileTypes: true });
      return files
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(home, path.join(entry.parentPath, entry.name)))
        .filter((file) => !expectedFiles.test(file))
        .map((file) => `left behind: ${file}`);
    },
  };
}

// A killed maker of a key may leave its draft: a private key that nobody uses, once in the life of a home.
const expectedFiles =
  /^(keys\/user\.pem\.\d+\.\w+\.tmp|keys\/user\.pem|teams\/[^/]+\/(team\.json|members\/\w+\.json|mail\/\w+\/(mailbox|(new|cur|done)\/[^.][^/]*)\.json))$/;

/** The ids in the output of `inbox --json`: a document with all mail, and behind it one about a failure if there was one. */
function wholeDocument(stdout) {
  return wholeValues(stdout).flatMap(({ messages = [] }) => messages.map(({ id }) => id));
}

/** The ids in the output of `inbox --follow --json`: a message a line. */
function wholeLines(stdout) {
  return wholeValues(stdout).flatMap(({ id }) => id ?? []);
}

/** What the lines hold; a torn last one does not count as printed. */
function wholeValues(stdout) {
  const lines = stdout.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}
