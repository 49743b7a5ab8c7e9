import type { QueryResult, Usage } from "./events.js";
import type { ModelError } from "./model/types.js";

/** What one query has done so far, and its result at the end. */
export interface Tally {
  readonly turns: number;
  /** Counts a turn and gives its number, from 1. */
  beginTurn(): number;
  /** Adds the counts of one request. */
  billed(usage: Usage): void;
  called(tools: number): void;
  said(text: string): void;
  /** Messages that are now in the conversation. */
  heard(ids: readonly string[]): void;
  /** The messages that the latest answer answers; each id once. */
  answered(): readonly string[];
  result(status: QueryResult["status"], error?: ModelError): QueryResult;
}

/** `unanswered` are messages that earlier queries left in the conversation without an answer. */
export function createTally(unanswered: readonly string[]): Tally {
  let turns = 0;
  let toolUses = 0;
  let text = "";
  let billed: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let context = 0;
  let open: readonly string[] = unanswered;
  return {
    get turns() {
      return turns;
    },
    beginTurn: () => ++turns,
    billed(usage) {
      billed = {
        input: billed.input + usage.input,
        output: billed.output + usage.output,
        cacheRead: billed.cacheRead + usage.cacheRead,
        cacheWrite: billed.cacheWrite + usage.cacheWrite,
      };
      context = usage.input + usage.cacheRead + usage.cacheWrite || context;
    },
    called(tools) {
      toolUses += tools;
    },
    said(words) {
      if (words !== "") text = words;
    },
    heard(ids) {
      open = [...open, ...ids];
    },
    answered() {
      const ids = open;
      open = [];
      return ids;
    },
    result: (status, error) => ({
      status,
      text,
      ...(error === undefined ? {} : { error: describe(error) }),
      turns,
      toolUses,
      billed,
      context,
      ...(open.length === 0 ? {} : { unanswered: open }),
    }),
  };
}

function describe({ code, message, options: { status } }: ModelError): NonNullable<QueryResult["error"]> {
  return { code, message, ...(status === undefined ? {} : { status }) };
}
