import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createPlace, manners } from "./fault-place.mjs";
import { run } from "./strace.mjs";

/** @typedef {import("./fault-scenarios.mjs").Prepare} Prepare */

const here = import.meta.dirname;

/** The library's asynchronous `send`, several messages at once: each id that was told is stored. @type {Prepare} */
export async function library(home, command) {
  const place = await createPlace(home, command);
  const module = pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href;
  return {
    begin() {
      place.reset();
      const ids = Array.from({ length: 4 }, place.nextId);
      const script = path.join(here, "fault-send-program.mjs");
      const argv = [process.execPath, script, module, place.team.mailboxOf("user"), ...ids];
      const program = { argv, env: place.env, pads: true };
      return {
        program,
        async check(result, injection) {
          const wrong = manners(result, injection);
          const told = result.stdout.split("\n").slice(0, -1);
          if (result.exitCode === 0 && told.length !== ids.length)
            wrong.push("it ended before all was stored");
          for (const id of ids) wrong.push(...place.once("user", id, told.includes(id)));
          const again = await run(program);
          if (again.exitCode !== 0) wrong.push(`the repeat: exit ${again.exitCode}: ${again.stderr}`);
          return [...wrong, ...(await place.readRest("user", ids)), ...(await place.leftovers())];
        },
      };
    },
  };
}

/** The sender in Python of docs/mailbox-protocol.md: the id that it prints is stored. @type {Prepare} */
export async function python(home, command) {
  const place = await createPlace(home, command);
  const page = fs.readFileSync(path.join(here, "../../docs/mailbox-protocol.md"), "utf8");
  const source = page.split("```python send.py\n")[1]?.split("\n```\n")[0] ?? "";
  const script = `${home}.py`;
  fs.writeFileSync(script, source);
  // The interpreter itself: what is called python3 may be a script that looks for it.
  const interpreter = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
    encoding: "utf8",
  });
  return {
    begin() {
      place.reset();
      const argv = [interpreter.trim(), "-B", script, place.team.mailboxOf("user"), "script", "user", "text"];
      const program = { argv, env: place.env };
      return {
        program,
        async check(result) {
          const wrong = result.stuck ? ["it did not end in time"] : [];
          const [told] = result.stdout.split("\n").slice(0, -1);
          if (told !== undefined) wrong.push(...place.once("user", told, true));
          if (result.exitCode === 0 && told === undefined) wrong.push("it told nothing");
          const names = ["new", "cur", "done"].flatMap((room) =>
            fs.readdirSync(path.join(place.team.mailboxOf("user"), room)),
          );
          if (names.length > 1) wrong.push(`there is more than one message: [${names}]`);
          const again = await run(program);
          if (again.exitCode !== 0) wrong.push(`the repeat: exit ${again.exitCode}: ${again.stderr}`);
          const ids = [...names.map((name) => path.basename(name, ".json")), again.stdout.trim()];
          return [...wrong, ...(await place.readRest("user", ids)), ...(await place.leftovers())];
        },
      };
    },
  };
}
