import { nameKey } from "../../util/name-key.js";
import type { EventHub } from "../event-hub.js";
import { type MemberState, nextState } from "../member-state.js";
import type { TeamPaths } from "../paths.js";
import { type MemberRecord, memberFile, writeRecord } from "../records.js";

/** The members of a running team: in memory, and on disk as the host is the only writer of their records. */
export interface Roster {
  all(): readonly MemberRecord[];
  find(name: string): MemberRecord | undefined;
  /** Takes a name for a member that is about to be put; the result gives it back. Nothing is written. */
  reserve(record: MemberRecord): () => void;
  /**
   * Adds a member, or puts a new incarnation of it in the place of the old one. Resolves when the record is on disk, and
   * rejects if it cannot be written.
   */
  put(record: MemberRecord): Promise<void>;
  /** Applies a reported state of one incarnation; false if it came too late to count. */
  setState(name: string, incarnation: string, state: MemberState, activity?: string): boolean;
  /** Changes other fields of a record. */
  update(
    name: string,
    incarnation: string,
    change: Partial<Omit<MemberRecord, "name" | "incarnation">>,
  ): void;
  /** Grows with every change: equal numbers mean that nothing happened in between. */
  readonly version: number;
  /** Resolves when every change has been written, or told of as one that could not be. */
  flush(): Promise<void>;
}

export function createRoster(paths: TeamPaths, hub: EventHub): Roster {
  const members = new Map<string, MemberRecord>();
  const tails = new Map<string, Promise<unknown>>();
  const dirty = new Set<string>();
  let version = 0;

  /** One write at a time per record, in the order of the calls. */
  const inTurn = (key: string, write: () => Promise<void>): Promise<void> => {
    const written = (tails.get(key) ?? Promise.resolve()).then(write);
    const tail = written
      .catch(() => undefined) // the caller's to hear of
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return written;
  };

  // Changes that come before their turn are written together.
  const save = (key: string): void => {
    version++;
    if (dirty.has(key)) return;
    dirty.add(key);
    inTurn(key, async () => {
      dirty.delete(key);
      const record = members.get(key);
      if (record !== undefined) await writeRecord(memberFile(paths, record.name), record);
    }).catch((error: unknown) => {
      hub.emit({
        type: "notice",
        level: "warning",
        text: `a member's record cannot be written: ${String(error)}`,
      });
    });
  };

  const change = (name: string, incarnation: string, next: Partial<MemberRecord>): boolean => {
    const key = nameKey(name);
    const record = members.get(key);
    if (record === undefined || record.incarnation !== incarnation) return false;
    members.set(key, { ...record, ...next });
    save(key);
    return true;
  };

  const flush = async (): Promise<void> => {
    while (tails.size > 0) await Promise.all(tails.values());
  };

  return {
    get version() {
      return version;
    },
    all: () => [...members.values()],
    find: (name) => members.get(nameKey(name)),
    reserve(record) {
      const key = nameKey(record.name);
      const before = members.get(key);
      members.set(key, record);
      version++;
      return () => {
        version++;
        if (before === undefined) members.delete(key);
        else members.set(key, before);
      };
    },
    async put(record) {
      const key = nameKey(record.name);
      const before = members.get(key);
      await inTurn(key, async () => {
        await writeRecord(memberFile(paths, record.name), record);
        version++;
        // What has become of a reserved one while it was written counts.
        const isReserved = before?.incarnation === record.incarnation;
        if (isReserved && members.get(key) !== before) save(key);
        else members.set(key, record);
      });
    },
    setState(name, incarnation, state, activity) {
      const record = members.get(nameKey(name));
      if (record === undefined || record.incarnation !== incarnation) return false;
      if (nextState(record, state) === undefined) return false;
      const { reason: _reason, detail: _detail, activity: _activity, ...rest } = record;
      members.set(nameKey(name), { ...rest, ...state, ...(activity === undefined ? {} : { activity }) });
      save(nameKey(name));
      const told = record.state !== state.state || record.reason !== state.reason;
      if (told) hub.emit({ type: "member-state", name: record.name, ...state });
      return true;
    },
    update: (name, incarnation, next) => void change(name, incarnation, next),
    flush,
  };
}
