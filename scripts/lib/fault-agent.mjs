import { generateKeyPairSync } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { createPlace, manners, valuesIn } from "./fault-place.mjs";
import { run } from "./strace.mjs";

/**
 * An agent as the reader, with the offline model. It is disturbed, then started again with the same transcript: every message
 * enters the conversation once, and what was acknowledged is on record with an answer behind it.
 * @type {import("./fault-scenarios.mjs").Prepare}
 */
export async function agent(home, command) {
  const place = await createPlace(home, command, ["user", "quiet", "ada"]);
  /** @type {typeof import("../../src/index.js")} */
  const engine = await import(pathToFileURL(path.join(path.dirname(command), "index.js")).href);
  const script = bundle(home);
  const runDir = path.join(place.team.root, "run/00000002");
  const specFile = describe(place, runDir);
  const transcript = path.join(runDir, "transcript.jsonl");
  const inDone = (/** @type {string} */ id) => String(place.roomsOf("ada", id)) === "done";

  return {
    begin() {
      place.reset();
      fs.rmSync(transcript, { force: true });
      fs.rmSync(path.join(runDir, "out"), { recursive: true, force: true });
      const ids = [place.store("ada"), place.store("ada")];
      // One comes while the agent works.
      const late = () => ids.length < 3 && ids.push(place.store("ada"));
      const until = (/** @type {string} */ stdout) => {
        const states = valuesIn(stdout).map(({ state }) => state);
        if (states.includes("working")) late();
        return states.at(-1) === "idle" && ids.length === 3 && ids.every(inDone);
      };
      const program = { argv: [process.execPath, script, specFile], env: place.env, pads: true, until };
      return {
        program,
        async check(result, injection) {
          const wrong = manners(result, injection);
          late();
          const answered = await answeredIn(transcript);
          for (const id of ids) {
            wrong.push(...place.once("ada", id, true));
            if (inDone(id) && !answered.includes(id))
              wrong.push(`${id} is in done/, but the transcript has no answer to it`);
          }
          const again = await run({ ...program, until: (stdout) => isAtRest(stdout) && ids.every(inDone) });
          wrong.push(...manners(again, {}));
          if (again.exitCode !== 0) wrong.push(`the next start: exit ${again.exitCode}: ${again.stderr}`);
          wrong.push(...(await onceEach(ids)), ...(await place.readRest("ada", [])));
          return [...wrong, ...wellFormed(place), ...(await place.leftovers())];
        },
      };
    },
  };

  /** The ids that the transcript tells as brought in, and answered since. @param {string} file */
  async function answeredIn(file) {
    const { messageIds, unanswered } = await engine.readTranscript(file);
    return messageIds.filter((id) => !unanswered.includes(id));
  }

  /** @param {readonly string[]} ids */
  async function onceEach(ids) {
    const { conversation, messageIds } = await engine.readTranscript(transcript);
    const text = JSON.stringify(conversation);
    return ids.flatMap((id) => {
      const records = messageIds.filter((other) => other === id).length;
      const frames = text.split(`<mail id=\\"${id}\\"`).length - 1;
      return records === 1 && frames === 1 ? [] : [`${id}: ${records} times on record, ${frames} in words`];
    });
  }
}

/** @param {string} stdout */
function isAtRest(stdout) {
  return valuesIn(stdout).at(-1)?.state === "idle";
}

/** What the agent wrote to others is mail. @param {import("./fault-place.mjs").Place} place */
function wellFormed(place) {
  const { problems } = place.mailbox.openMailbox(place.team.mailboxOf("user")).claim();
  return problems.map(({ file, reason }) => `the agent wrote ${file}: ${reason}`);
}

/** @param {string} home */
function bundle(home) {
  const outfile = `${home}.mjs`;
  buildSync({
    entryPoints: [path.join(import.meta.dirname, "fault-agent-program.mjs")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["node-pty", "@vscode/ripgrep"],
    banner: {
      js: 'import { createRequire as troupeRequire } from "node:module"; const require = troupeRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

/**
 * Writes what the agent needs to run, and gives the file of its description.
 * @param {import("./fault-place.mjs").Place} place
 * @param {string} runDir
 */
function describe({ home, team }, runDir) {
  fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync("ed25519");
  const keyFile = path.join(runDir, "key.pem");
  fs.writeFileSync(keyFile, privateKey.export({ format: "pem", type: "pkcs8" }), { mode: 0o600 });
  const modelScript = path.join(home, "model.yaml");
  const steps = [{ text: "Ready." }];
  const agents = { default: { steps, mail: "Read the mail from {{ from }}." } };
  fs.writeFileSync(modelScript, JSON.stringify({ version: 1, delayMs: 1, agents }));
  const spec = {
    v: 1,
    home,
    dirName: path.basename(team.root),
    team: "scratch",
    id: "00000002",
    name: "ada",
    agentId: "ada@scratch",
    incarnation: "00000002",
    role: "teammate",
    reportsTo: "user",
    colleagues: [],
    furtherColleagues: 0,
    // It reads no instructions of a project, and so starts no git.
    agentType: "Explore",
    model: "offline",
    modelScript,
    permissionMode: "bypassPermissions",
    colour: 33,
    cwd: path.dirname(home),
    maxTurns: 20,
    orphanTimeoutMs: 1000,
    keyFile,
    runDir,
  };
  const specFile = path.join(runDir, "spec.json");
  fs.writeFileSync(specFile, JSON.stringify(spec));
  return specFile;
}
