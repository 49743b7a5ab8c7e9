/**
 * One option of a command. `count` is a whole number from 0, `duration` a time such as `30s`, given to the command in
 * milliseconds; the others arrive as typed.
 */
export interface OptionSpec {
  readonly type: "string" | "boolean" | "count" | "duration";
  /** One line of help, without a full stop. */
  readonly describe: string;
  /** Stands for the value in the help. */
  readonly arg?: string;
  /** One letter. */
  readonly short?: string;
  readonly choices?: readonly string[];
  /** Asks for something that has to be undone at the end, also by a signal: the fast path, which a signal just ends, is not for it. */
  readonly cleansUp?: true;
  /** May be given more than once; the values come as a list. Only for `string`. */
  readonly multiple?: true;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** What a table's options come to after parsing: absent options are undefined, absent booleans false. */
export type OptionValues<T extends OptionTable> = { readonly [K in keyof T]: OptionValue<T[K]> };

type OptionValue<S extends OptionSpec> = S["type"] extends "boolean"
  ? boolean
  : S["type"] extends "count" | "duration"
    ? number | undefined
    : S extends { readonly multiple: true }
      ? readonly string[]
      : S extends { readonly choices: readonly (infer C)[] }
        ? C | undefined
        : string | undefined;

/** Options that every command has. */
export const sharedOptions = {
  team: {
    type: "string",
    arg: "NAME",
    describe: "the team; default TROUPE_TEAM, else by the current directory",
  },
  json: { type: "boolean", describe: "print JSON for programs" },
  help: { type: "boolean", short: "h", describe: "show this help" },
} as const satisfies OptionTable;
