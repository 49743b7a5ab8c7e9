import fs from "node:fs";
import path from "node:path";
import { createPlace, manners, valuesIn } from "./fault-place.mjs";
import { run } from "./strace.mjs";

/** @typedef {import("./fault-scenarios.mjs").Prepare} Prepare */
/** @typedef {import("./fault-place.mjs").Place} Place */
/** @typedef {import("./strace.mjs").Program} Program */

/** `troupe send` of a short text to one member. @type {Prepare} */
export async function send(home, command) {
  const place = await createPlace(home, command);
  return {
    begin() {
      const { id, program } = begin(place, (id) => ["user", `text of ${id}`, "--id", id]);
      return { program, check: (result, injection) => checkSent(place, program, id, result, injection) };
    },
  };
}

const mebibyte = "0123456789abcde\n".repeat(65_536);

/** The longest text that there is, through stdin. @type {Prepare} */
export async function stdin(home, command) {
  const place = await createPlace(home, command);
  return {
    begin() {
      const { id, program } = begin(place, (id) => ["user", "-", "--id", id], { input: mebibyte });
      return { program, check: (result, injection) => checkSent(place, program, id, result, injection) };
    },
  };
}

/** The longest text that there is, from a file. @type {Prepare} */
export async function file(home, command) {
  const place = await createPlace(home, command);
  const text = path.join(home, "text.txt");
  fs.writeFileSync(text, mebibyte);
  return {
    begin() {
      const { id, program } = begin(place, (id) => ["user", "--file", text, "--id", id]);
      return { program, check: (result, injection) => checkSent(place, program, id, result, injection) };
    },
  };
}

/** A broadcast: whom it was told as stored for has it, and a repeat completes it. @type {Prepare} */
export async function broadcast(home, command) {
  const members = ["first", "second", "third"];
  const place = await createPlace(home, command, ["user", ...members]);
  return {
    begin() {
      const { id, program } = begin(place, (id) => ["*", `text of ${id}`, "--id", id, "--json"]);
      return {
        program,
        async check(result, injection) {
          const deliveries = deliveriesIn(result.stdout);
          const isTold = () => deliveries.some(({ outcome }) => outcome === "failed" || outcome === "maybe");
          const wrong = manners(result, injection, isTold);
          if (result.exitCode === 0 && deliveries.length !== members.length && injection.stream !== 1)
            wrong.push(`it told of ${deliveries.length} recipients`);
          for (const { name, outcome } of deliveries)
            wrong.push(...place.once(name, id, outcome === "stored" || outcome === "duplicate"));
          wrong.push(...members.flatMap((name) => place.once(name, id, false)));
          // A later sender tidies up, too.
          wrong.push(...(await repeat({ ...program, argv: laterBy(program.argv) })));
          for (const name of members) wrong.push(...(await place.readRest(name, [id])));
          return [...wrong, ...(await place.leftovers())];
        },
      };
    },
  };
}

/** `--wait replied`: an answer that it printed is there, and so is what was answered. @type {Prepare} */
export async function replied(home, command) {
  const place = await createPlace(home, command);
  return {
    begin() {
      const { id, program } = begin(place, (id) => {
        const wait = ["--wait", "replied", "--timeout", "10s", "--json"];
        return ["quiet", `text of ${id}`, "--id", id, ...wait];
      });
      /** @type {string | undefined} */
      let answer;
      const timer = setInterval(() => {
        if (answer !== undefined || place.roomsOf("quiet", id).length === 0) return;
        const box = place.mailbox.openMailbox(place.team.mailboxOf("quiet"));
        box.acknowledge(box.claim().messages.map((message) => message.id));
        answer = place.store("user", { inReplyTo: id });
        clearInterval(timer);
      }, 5);
      timer.unref();
      return {
        program,
        async check(result, injection) {
          clearInterval(timer);
          const wrong = manners(result, injection, (stdout) =>
            valuesIn(stdout).some(({ reached }) => reached === false),
          );
          const document = valuesIn(result.stdout).find((value) => value.deliveries !== undefined);
          wrong.push(...place.once("quiet", id, document !== undefined));
          const answers = (document?.replies ?? []).map((/** @type {{ id: string }} */ reply) => reply.id);
          if (result.exitCode === 0 && injection.stream !== 1 && String(answers) !== answer)
            wrong.push(`it told of the answer [${answers}], which was ${answer}`);
          const [, , verb = "", to = "", text = ""] = program.argv;
          const plain = [process.execPath, command, verb, to, text, "--id", id];
          wrong.push(...(await repeat({ ...program, argv: plain })));
          wrong.push(...place.once("quiet", id, true));
          wrong.push(...(await place.readRest("quiet", answer === undefined ? [id] : [])));
          wrong.push(...(await place.readRest("user", answer === undefined ? [] : [answer])));
          return [...wrong, ...(await place.leftovers())];
        },
      };
    },
  };
}

/**
 * @param {Place} place
 * @param {(id: string) => readonly string[]} args what follows `send`
 * @param {Partial<Program>} [more]
 */
function begin(place, args, more) {
  place.reset();
  const id = place.nextId();
  const argv = [process.execPath, place.command, "send", ...args(id)];
  return { id, program: { argv, env: place.env, pads: true, ...more } };
}

/**
 * @param {Place} place
 * @param {Program} program
 * @param {string} id
 * @param {import("./strace.mjs").Ending} result
 * @param {{ stream?: number }} injection
 */
async function checkSent(place, program, id, result, injection) {
  const wrong = manners(result, injection);
  wrong.push(...place.once("user", id, result.exitCode === 0));
  wrong.push(...(await repeat(program)));
  wrong.push(...place.once("user", id, true), ...(await place.readRest("user", [id])));
  return [...wrong, ...(await place.leftovers())];
}

/** @param {Program} program */
async function repeat(program) {
  const { exitCode, stderr } = await run(program);
  return exitCode === 0 ? [] : [`the repeat: exit ${exitCode}: ${stderr}`];
}

/** @param {readonly string[]} argv @returns {string[]} the same command, two hours later */
function laterBy([node = "", ...args]) {
  return [node, "--require", path.join(import.meta.dirname, "fault-later.cjs"), ...args];
}

/**
 * @param {string} stdout
 * @returns {{ name: string, outcome: string }[]}
 */
function deliveriesIn(stdout) {
  return valuesIn(stdout).flatMap(({ deliveries = [] }) => deliveries);
}
