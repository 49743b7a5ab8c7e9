import fs from "node:fs";
import path from "node:path";
import { messageOf, TroupeError } from "../src/util/errors.js";
import type { ProcessIdentity } from "../src/util/process-identity.js";
import { oneLine } from "../src/util/text.js";
import { claimantLiveness, claimantOf } from "./claimant.js";
import { claimFile, idOfFile, listClaims, listRoom, messageFile, type Room } from "./layout.js";
import type { Message } from "./message.js";
import { moveFile, readMessageFile, removeFile, removeLeftover } from "./message-file.js";
import type { MailProblem } from "./problem.js";
import { quarantine, quarantineStrays } from "./quarantine.js";

/** What one look at a mailbox brought, oldest first. `more`: a limit was reached; claim again. */
export interface Claim {
  readonly messages: readonly Message[];
  readonly problems: readonly MailProblem[];
  readonly more: boolean;
}

/** How many messages one claim takes unless told otherwise. */
export const defaultClaimLimit = 256;

/** The receiving side of one mailbox; `Mailbox` in store.ts says what each function promises. */
export interface Claims {
  claim(limit?: number, takeOver?: boolean): Claim;
  claimNamed(file: string): Claim;
  acknowledge(ids: readonly string[]): readonly string[];
  release(ids?: readonly string[]): void;
}

/** Claims in the name of the process that `self` gives, which is asked at the first use. */
export function createClaims(dir: string, self: () => ProcessIdentity): Claims {
  const newerTold = new Set<string>();
  let claimant: string | undefined;
  const ownClaimant = () => {
    claimant ??= claimantOf(self());
    return claimant;
  };
  const claimed = (id: string) => path.join(dir, "cur", claimFile(id, ownClaimant()));
  const done = (id: string) => path.join(dir, "done", messageFile(id));

  return { claim, claimNamed, acknowledge, release };

  function claim(limit = defaultClaimLimit, takeOver = true): Claim {
    const names = listRoom(dir, "new");
    const arrived = names.flatMap((name) => idOfFile(name) ?? []).sort();
    const waiting = [
      ...(takeOver ? abandoned(dir, self()) : []),
      ...arrived.map((id) => ({ room: "new" as const, name: messageFile(id), id })),
    ];
    const messages: Message[] = [];
    const problems: MailProblem[] = [];
    let looked = 0;
    let putAside = 0;
    for (const found of waiting) {
      if (messages.length >= limit || putAside >= defaultClaimLimit) break;
      looked++;
      const taken = take(found);
      if (taken?.message !== undefined) messages.push(taken.message);
      if (taken?.problem !== undefined) problems.push(taken.problem);
      if (taken?.problem?.type === "bad") putAside++;
    }
    const astray = arrived.length < names.length ? strays(dir) : { problems: [], more: false };
    return {
      messages,
      problems: [...problems, ...astray.problems],
      more: looked < waiting.length || astray.more,
    };
  }

  function claimNamed(file: string): Claim {
    const id = idOfFile(file);
    const taken = id === undefined ? undefined : take({ room: "new", name: file, id });
    return {
      messages: taken?.message === undefined ? [] : [taken.message],
      problems: taken?.problem === undefined ? [] : [taken.problem],
      more: false,
    };
  }

  function take(found: Found): Taken | undefined {
    const { room, name, id } = found;
    const file = path.join(dir, room, name);
    const own = claimed(id);
    try {
      // Read first: what cannot be read or understood stays where it is, and no bell rings for putting it back.
      const content = readMessageFile(file, id);
      if (content.type === "missing") return undefined;
      if (content.type === "unreadable") throw content.error;
      if (content.type === "newer") return newerProblem(name, content.v);
      if (content.type === "bad")
        return { problem: quarantine(dir, room, name, messageFile(id), content.reason) };
      if (fs.existsSync(own)) {
        removeFile(file); // a repeat of what this process is at work on
        return undefined;
      }
      if (!moveFile(file, own)) return undefined; // another reader has it
      if (fs.existsSync(done(id))) {
        removeLeftover(own); // a repeat of what has been seen
        return undefined;
      }
      return { message: content.message };
    } catch (error) {
      return { problem: { type: "unreadable", file: name, reason: oneLine(messageOf(error)) } };
    }
  }

  function newerProblem(name: string, v: number): Taken | undefined {
    if (newerTold.has(name)) return undefined;
    newerTold.add(name);
    return { problem: { type: "newer", file: name, reason: `its format is version ${v}` } };
  }

  function acknowledge(ids: readonly string[]): readonly string[] {
    return moveAll(ids, "acknowledged", (id) => moveFile(claimed(id), done(id)) || fs.existsSync(done(id)));
  }

  function release(ids?: readonly string[]): void {
    const own = () => listClaims(dir).filter((found) => found.claimant === ownClaimant());
    moveAll(ids ?? own().map(({ id }) => id), "put back", (id) =>
      moveFile(claimed(id), path.join(dir, "new", messageFile(id))),
    );
  }

  /** Does all it can before it throws; gives the ids for which `move` found nothing to do. */
  function moveAll(ids: readonly string[], verb: string, move: (id: string) => boolean): string[] {
    const missing: string[] = [];
    let failure: { id: string; error: unknown } | undefined;
    for (const id of ids) {
      try {
        if (!move(id)) missing.push(id);
      } catch (error) {
        failure ??= { id, error };
      }
    }
    if (failure === undefined) return missing;
    throw new TroupeError(
      "mail-not-moved",
      `message ${failure.id} in ${dir} could not be ${verb}: ${messageOf(failure.error)}`,
      { remedy: "mend what the message says; until then it counts as delivered", cause: failure.error },
    );
  }
}

interface Found {
  readonly room: Room;
  readonly name: string;
  readonly id: string;
}

interface Taken {
  readonly message?: Message;
  readonly problem?: MailProblem | undefined;
}

/** The claims of processes that have ended, oldest first. */
function abandoned(dir: string, self: ProcessIdentity): Found[] {
  const gone = new Map<string, boolean>([[claimantOf(self), false]]);
  return listClaims(dir).flatMap(({ name, id, claimant }) => {
    const isGone = gone.get(claimant) ?? claimantLiveness(claimant, self) === "gone";
    gone.set(claimant, isGone);
    return isGone ? { room: "cur" as const, name, id } : [];
  });
}

function strays(dir: string): Pick<Claim, "problems" | "more"> {
  try {
    return quarantineStrays(dir, defaultClaimLimit);
  } catch (error) {
    return {
      problems: [{ type: "unreadable", file: "new/", reason: oneLine(messageOf(error)) }],
      more: false,
    };
  }
}
