import fs from "node:fs";
import { messageOf } from "../util/errors.js";
import { readTextIfExists } from "../util/fs.js";
import type { TeamEvent, TeamEventBody } from "./events.js";

/** How many past events a late viewer gets, per member and for the team. */
const backlogSize = 200;

/** From this size on, in bytes, the record goes on in a new file; the one before it is kept beside it as `<file>.1`. */
const maxRecordBytes = 16 * 1024 * 1024;

/** Takes a team's events in, keeps the latest, writes the record and tells listeners. */
export interface EventHub {
  emit(event: TeamEventBody): void;
  /** Takes over an event that another process made. */
  relay(event: TeamEvent): void;
  /** Calls `listener` for every later event; the result ends that. A listener that throws ends only itself. */
  listen(listener: (event: TeamEvent) => void): () => void;
  /** The latest events of one member, or of all; oldest first. */
  backlog(name?: string): readonly TeamEvent[];
}

/**
 * A hub that appends to `file` (0600, NDJSON; streamed text is left out, the transcript has it). A torn last line of an
 * earlier writer is closed off first. The record does not grow without end: from `maxBytes` on it begins anew, and the
 * part before is kept as `<file>.1`.
 */
export function openEventHub(file: string, maxBytes = maxRecordBytes): EventHub {
  const listeners = new Set<(event: TeamEvent) => void>();
  const all: TeamEvent[] = [];
  const byMember = new Map<string, TeamEvent[]>();
  const previous = readTextIfExists(file);
  if (previous !== undefined && previous !== "" && !previous.endsWith("\n")) fs.appendFileSync(file, "\n");

  let unwritable = false;

  /** A disk that is full or gone must not end the team: it is told once, and listeners still hear of everything. */
  const record = (event: TeamEvent): void => {
    try {
      const { size = 0 } = fs.lstatSync(file, { throwIfNoEntry: false }) ?? {};
      if (size >= maxBytes) fs.renameSync(file, `${file}.1`);
      fs.appendFileSync(file, `${JSON.stringify({ v: 1, ...event })}\n`, { mode: 0o600 });
      unwritable = false;
    } catch (error) {
      if (unwritable) return;
      unwritable = true;
      warn(`events are not recorded in ${file}: ${messageOf(error)}`);
    }
  };
  const warn = (text: string): void =>
    relay({ at: new Date().toISOString(), type: "notice", level: "warning", text });

  const relay = (event: TeamEvent): void => {
    if (isKept(event)) record(event);
    push(all, event);
    for (const name of new Set(namesIn(event))) {
      const own = byMember.get(name) ?? [];
      byMember.set(name, own);
      push(own, event);
    }
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        listeners.delete(listener);
        warn(`a viewer of the team's events failed: ${messageOf(error)}`);
      }
    }
  };

  return {
    relay,
    emit: (body) => relay({ at: new Date().toISOString(), ...body } as TeamEvent),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    backlog: (name) => [...(name === undefined ? all : (byMember.get(name) ?? []))],
  };
}

/** The members an event is about. */
export function namesIn(event: TeamEvent): string[] {
  if (event.type === "mail") return [event.from, event.to];
  if (event.type === "result") return [event.from];
  return "name" in event && event.name !== undefined ? [event.name] : [];
}

function isKept(event: TeamEvent): boolean {
  return event.type !== "output" && !(event.type === "agent" && /^text/.test(event.event.type));
}

/** Appends; consecutive pieces of streamed text become one, so that a backlog holds items, not fragments. */
function push(list: TeamEvent[], event: TeamEvent): void {
  const last = list.at(-1);
  if (
    event.type === "agent" &&
    event.event.type === "text" &&
    last?.type === "agent" &&
    last.event.type === "text" &&
    last.name === event.name
  )
    list[list.length - 1] = { ...last, event: { type: "text", text: last.event.text + event.event.text } };
  else list.push(event);
  if (list.length > backlogSize) list.shift();
}
