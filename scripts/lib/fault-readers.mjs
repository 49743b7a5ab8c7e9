import { createPlace, idsInDocument, manners, valuesIn } from "./fault-place.mjs";

/** @typedef {import("./fault-scenarios.mjs").Prepare} Prepare */

/** `troupe inbox`: what it marked as seen it printed, and the rest comes again. @type {Prepare} */
export async function inbox(home, command) {
  const place = await createPlace(home, command);
  return {
    begin() {
      place.reset();
      const ids = [place.store("user"), place.store("user"), place.store("user")];
      const argv = [process.execPath, command, "inbox", "--json"];
      return {
        program: { argv, env: place.env, pads: true },
        check: (result, injection) => checkRead(place, ids, idsInDocument(result.stdout), result, injection),
      };
    },
  };
}

/** `troupe inbox --follow`, while mail comes. @type {Prepare} */
export async function follow(home, command) {
  const place = await createPlace(home, command);
  return {
    begin() {
      place.reset();
      const ids = [place.store("user"), place.store("user")];
      // One comes while the reader runs.
      const late = () => ids.length < 3 && ids.push(place.store("user"));
      const until = (/** @type {string} */ stdout) => {
        const printed = idsInLines(stdout);
        if (printed.length > 0) late();
        return ids.length === 3 && ids.every((id) => printed.includes(id));
      };
      const argv = [process.execPath, command, "inbox", "--follow", "--json"];
      return {
        program: { argv, env: place.env, pads: true, until },
        check(result, injection) {
          late();
          return checkRead(place, ids, idsInLines(result.stdout), result, injection);
        },
      };
    },
  };
}

/**
 * @param {import("./fault-place.mjs").Place} place
 * @param {readonly string[]} ids
 * @param {readonly string[]} printed
 * @param {import("./strace.mjs").Ending} result
 * @param {{ stream?: number }} injection
 */
async function checkRead(place, ids, printed, result, injection) {
  const wrong = manners(result, injection);
  for (const id of ids) {
    wrong.push(...place.once("user", id, true));
    if (place.roomsOf("user", id).includes("done") && !printed.includes(id))
      wrong.push(`${id} was marked as seen, but not printed`);
  }
  const rest = ids.filter((id) => !place.roomsOf("user", id).includes("done"));
  return [...wrong, ...(await place.readRest("user", rest)), ...(await place.leftovers())];
}

/** The ids in the output of `inbox --follow --json`: a message a line. @param {string} stdout @returns {string[]} */
function idsInLines(stdout) {
  return valuesIn(stdout).flatMap(({ id }) => id ?? []);
}
