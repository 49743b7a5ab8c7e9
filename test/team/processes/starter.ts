// starter.mjs HOME PROJECT START_MS ROUNDS: prepares team r0, r1, ... all at the same times as its rivals; says how each
// round went, and keeps what it won until it is killed.
import { prepareTeam } from "../../../src/team/prepare.js";
import { TroupeError } from "../../../src/util/errors.js";

const [home = "", projectRoot = "", start = "0", rounds = "0"] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round++) {
  while (Date.now() < Number(start) + round * 40);
  const name = `r${round}`;
  try {
    const backend = { type: "in-process", reason: "test" } as const;
    await prepareTeam({ home, name, projectRoot, lead: "user", backend, troupe: ["troupe"] });
    console.log(`${name} won`);
  } catch (error) {
    console.log(`${name} ${error instanceof TroupeError ? error.code : error}`);
  }
}
console.log("over");
setInterval(() => undefined, 60_000);
