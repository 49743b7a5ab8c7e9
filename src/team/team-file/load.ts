import fs from "node:fs";
import { type Alias, type Document, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { errnoOf, messageOf, TroupeError } from "../../util/errors.js";
import { checkName } from "../names.js";
import { nearest } from "../nearest.js";
import { channelFaults } from "./channel-faults.js";
import { type TeamFile, teamFileSchema, teammateSchema } from "./schema.js";

/** A place in a team file, and what is wrong there. */
export interface Fault {
  readonly path: readonly PropertyKey[];
  readonly text: string;
  /** Whether the key itself is at fault, not its value. */
  readonly atKey?: string;
}

/** Reads and checks a team file; `shown` names it in errors: TroupeErrors of kind `usage` with line and column. */
export function loadTeamFile(file: string, shown = file): TeamFile {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (cause) {
    const why =
      errnoOf(cause) === "ENOENT"
        ? "there is no such file"
        : `it cannot be read (${errnoOf(cause) ?? "error"})`;
    throw new TroupeError("bad-team-file", `team file ${shown}: ${why}`, { kind: "usage", cause });
  }
  return parseTeamFile(text, shown);
}

/** As {@link loadTeamFile}, for text at hand; `fileName` is only for messages. */
export function parseTeamFile(text: string, fileName: string): TeamFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const refuse: Refuse = (offset, why, more = 0) => {
    const { line, col } = lines.linePos(offset);
    const rest = more === 0 ? "" : ` (and ${more} more)`;
    throw new TroupeError("bad-team-file", `${fileName}:${line}:${col}: ${why}${rest}`, { kind: "usage" });
  };
  const [broken] = document.errors;
  if (broken !== undefined) refuse(broken.pos[0], broken.message.split("\n")[0] ?? "not YAML");

  const faults: Fault[] = [];
  const checked = teamFileSchema.safeParse(dataOf(document, refuse));
  if (checked.success) faults.push(...contradictions(checked.data));
  else faults.push(...checked.error.issues.flatMap(faultsOf));
  // A field that is unknown because it is misspelt explains one that is missing.
  const first = faults.find(({ atKey }) => atKey !== undefined) ?? faults[0];
  if (first !== undefined) refuse(offsetOf(document, first), first.text, faults.length - 1);
  if (!checked.success) throw checked.error;
  return checked.data;
}

type Refuse = (offset: number, why: string, more?: number) => never;

/** The document as data. What parsing lets through and this does not are aliases: of nothing, or too many. */
function dataOf(document: Document, refuse: Refuse): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const aliases: Alias[] = [];
    visit(document, { Alias: (_, alias) => void aliases.push(alias) });
    const culprit = aliases.find((alias) => alias.resolve(document) === undefined) ?? aliases[0];
    return refuse(culprit?.range?.[0] ?? 0, messageOf(error).split("\n")[0] ?? "");
  }
}

/** What the schema cannot say: names, uniqueness, one way to run per teammate, and who is in a channel. */
function contradictions(file: TeamFile): Fault[] {
  const faults: Fault[] = [];
  const keys = new Map<string, string>();
  const tryName = (name: string, at: readonly PropertyKey[], what: string): string | undefined => {
    try {
      return checkName(name, what);
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      faults.push({ path: at, text: `${error.message}; ${error.remedy ?? ""}` });
      return undefined;
    }
  };
  tryName(file.name, ["name"], "team");
  if (file.lead === undefined && file.teammates.length === 0)
    faults.push({ path: [], text: "a team needs teammates, or a lead that is an agent" });
  file.teammates.forEach((teammate, index) => {
    const at = ["teammates", index];
    const key = tryName(teammate.name, [...at, "name"], "teammate");
    if (key !== undefined) {
      const other = keys.get(key);
      if (other !== undefined)
        faults.push({ path: [...at, "name"], text: `${teammate.name} and ${other} are the same name` });
      keys.set(key, teammate.name);
    }
    if ((teammate.agent === undefined) === (teammate.command === undefined))
      faults.push({ path: at, text: `teammate ${teammate.name} needs one of agent and command` });
    if (teammate.command !== undefined && teammate.prompt !== undefined)
      faults.push({ path: [...at, "prompt"], text: `${teammate.name} is a command: it takes no prompt` });
    if (teammate.command === undefined && teammate.input !== undefined)
      faults.push({
        path: [...at, "input"],
        text: `${teammate.name} is an agent: only a command takes input`,
      });
  });
  return [...faults, ...channelFaults(file)];
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code !== "unrecognized_keys")
    return [{ path: issue.path, text: `${where(issue.path)}: ${issue.message}` }];
  return issue.keys.map((key) => {
    const near = nearest(key, fieldsAt(issue.path));
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return { path: issue.path, atKey: key, text: `unknown field ${key}${hint}` };
  });
}

function where(at: readonly PropertyKey[]): string {
  return at.length === 0 ? "the team file" : at.map(String).join(".");
}

/** The fields that the schema knows at a path, for suggestions. */
function fieldsAt(at: readonly PropertyKey[]): string[] {
  if (at.length === 0) return Object.keys(teamFileSchema.shape);
  if (at[0] === "teammates") return Object.keys(teammateSchema.shape);
  const field =
    at[0] === undefined ? undefined : (teamFileSchema.shape as Record<PropertyKey, unknown>)[at[0]];
  const inner = field as { def?: { innerType?: { shape?: object } } } | undefined;
  return Object.keys(inner?.def?.innerType?.shape ?? {});
}

/** Where in the text a fault stands: at the key or value itself, or at the nearest thing around it that exists. */
function offsetOf(document: ReturnType<typeof parseDocument>, fault: Fault): number {
  for (let depth = fault.path.length; depth >= 0; depth--) {
    const node: unknown = depth === 0 ? document.contents : document.getIn(fault.path.slice(0, depth), true);
    if (depth === fault.path.length && fault.atKey !== undefined) {
      const offset = keyOffset(node, fault.atKey);
      if (offset !== undefined) return offset;
    }
    const range = rangeOf(node);
    if (range !== undefined) return range;
  }
  return 0;
}

function keyOffset(node: unknown, key: string): number | undefined {
  if (typeof node !== "object" || node === null || !("items" in node) || !Array.isArray(node.items))
    return undefined;
  const pair: unknown = node.items.find(
    (item: { key?: { value?: unknown } }) => String(item.key?.value ?? item.key) === key,
  );
  return typeof pair === "object" && pair !== null && "key" in pair ? rangeOf(pair.key) : undefined;
}

function rangeOf(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range))
    return undefined;
  return typeof node.range[0] === "number" ? node.range[0] : undefined;
}
