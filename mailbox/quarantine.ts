import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errnoOf, messageOf } from "../src/util/errors.js";
import { oneLine } from "../src/util/text.js";
import { idOfFile, type Room } from "./layout.js";
import type { MailProblem } from "./problem.js";

/**
 * Moves what is no message from `room` to `bad/`, as `known` where that name is free, and writes the reason beside it.
 * Undefined if the file is gone: another reader dealt with it. `name` is a Buffer where it is not UTF-8.
 */
export function quarantine(
  dir: string,
  room: Room,
  name: string | Buffer,
  known: string | undefined,
  reason: string,
): MailProblem | undefined {
  const shown = name.toString();
  const target = path.join(dir, "bad", freeName(dir, known ?? harmless(shown)));
  const source = Buffer.concat([Buffer.from(path.join(dir, room, "/")), Buffer.from(name)]);
  try {
    fs.renameSync(source, target);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" && fs.existsSync(path.dirname(target))) return undefined;
    return {
      type: "unreadable",
      file: shown,
      reason: oneLine(`${reason}; not moved to bad/: ${messageOf(error)}`),
    };
  }
  const line = oneLine(`${shown}: ${reason}`, 1000);
  try {
    fs.writeFileSync(`${target}.reason`, `${line}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    return { type: "bad", file: shown, reason: oneLine(`${reason} (told here only: ${messageOf(error)})`) };
  }
  return { type: "bad", file: shown, reason };
}

/**
 * Quarantines what has a name in `new/` that cannot be a message's, but no more than `limit` (then `more` is true); dot files
 * are left alone.
 */
export function quarantineStrays(dir: string, limit: number): { problems: MailProblem[]; more: boolean } {
  const problems: MailProblem[] = [];
  let putAside = 0;
  for (const name of fs.readdirSync(path.join(dir, "new"), { encoding: "buffer" })) {
    const text = name.toString();
    if (text.startsWith(".") || idOfFile(text) !== undefined) continue;
    if (putAside >= limit) return { problems, more: true };
    const problem = quarantine(dir, "new", name, undefined, "the name is not <id>.json");
    if (problem !== undefined) problems.push(problem);
    if (problem?.type === "bad") putAside++;
  }
  return { problems, more: false };
}

function freeName(dir: string, name: string): string {
  const taken = [name, `${name}.reason`].some((used) => isTaken(path.join(dir, "bad", used)));
  return taken ? `${name}~${randomBytes(4).toString("hex")}` : name;
}

function isTaken(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** A name that no shell, terminal or file system trips over. */
function harmless(name: string): string {
  return `stray-${name.replace(/[^0-9A-Za-z._-]/g, "_").slice(0, 100)}`;
}
