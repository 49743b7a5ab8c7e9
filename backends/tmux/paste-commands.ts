import type { TmuxCommand } from "./client.js";

/** A pane that text goes to, on one life of its server, with the tag by which it is ours. */
export interface TypedPane {
  readonly pane: string;
  readonly serverPid: number;
  readonly tag: string;
}

/** What matters of a pane to who types into it. */
export interface PaneInput {
  readonly serverPid: number;
  readonly tag: string;
  readonly dead: boolean;
  readonly inputOff: boolean;
  /** The mode that it is in (`copy-mode`, `tree-mode`, …), empty for none, and how far up a copy mode has scrolled. */
  readonly mode: string;
  readonly scrolled: number;
  readonly history: number;
  readonly height: number;
  readonly cursorX: number;
  readonly cursorY: number;
}

/** Printed by {@link pasteText} and {@link pressEnter} once the pane has it. */
export const pastedMark = "troupe-pasted";

const inputFormat = [
  "pid",
  "@troupe_tag",
  "pane_dead",
  "pane_input_off",
  "pane_mode",
  "scroll_position",
  "history_size",
  "pane_height",
  "cursor_x",
  "cursor_y",
]
  .map((name) => `#{${name}}`)
  .join(",");

/** Prints a line for {@link parsePaneInput}, then what the pane shows, with up to `above` lines that have scrolled away. */
export function showPane(pane: string, above: number): TmuxCommand[] {
  return [
    ["list-panes", "-t", pane, "-f", `#{==:#{pane_id},${pane}}`, "-F", inputFormat],
    ["capture-pane", "-p", "-t", pane, "-S", `-${above}`],
  ];
}

/** Undefined where the line tells of no pane. */
export function parsePaneInput(line: string): PaneInput | undefined {
  const [pid, tag, dead, inputOff, mode, scrolled, history, height, cursorX, cursorY] = line.split(",");
  if (!/^\d+$/.test(pid ?? "") || !/^\d+$/.test(cursorY ?? "")) return undefined;
  return {
    serverPid: Number(pid),
    tag: tag ?? "",
    dead: dead === "1",
    inputOff: inputOff === "1",
    mode: mode ?? "",
    scrolled: Number(scrolled),
    history: Number(history),
    height: Number(height),
    cursorX: Number(cursorX),
    cursorY: Number(cursorY),
  };
}

/**
 * Pastes what the client gets on its stdin, by a buffer of that name which is gone afterwards. Only into this very pane, also
 * where the user's window has its panes synchronized, and only while it takes input. A mode is left, since in one tmux does
 * not know whether the program asked for bracketed pastes; a copy mode is entered again in the same turn of the server, as
 * far from the end as it was (`shown` is the pane as it was seen last).
 */
export function pasteText(to: TypedPane, buffer: string, shown: PaneInput): TmuxCommand[] {
  const leave = `copy-mode -q -t ${to.pane}`;
  const paste = `paste-buffer -p -r -b ${buffer} -t ${to.pane}`;
  const back = `copy-mode -e -t ${to.pane} ; send-keys -t ${to.pane} -X goto-line ${shown.scrolled}`;
  const plain = `${leave} ; ${paste} ; ${told(to)}`;
  const command =
    shown.mode === "copy-mode"
      ? [
          ...onlyIf(to, [["pane_mode", "copy-mode"]], `${leave} ; ${paste} ; ${back} ; ${told(to)}`),
          `if-shell -F -t ${to.pane} "${condition(to)}" "${plain}"`,
        ]
      : onlyIf(to, [], plain);
  return [["load-buffer", "-b", buffer, "-"], command, deleteBuffer(buffer)];
}

/** Enter by the way that the text takes: a key would reach all panes of a synchronized window, and none from a mode. */
export function pressEnter(to: TypedPane, buffer: string): TmuxCommand[] {
  const paste = `paste-buffer -b ${buffer} -t ${to.pane} ; ${told(to)}`;
  // Without -r a line feed is pasted as a carriage return.
  return [["set-buffer", "-b", buffer, "--", "\n"], onlyIf(to, [], paste), deleteBuffer(buffer)];
}

export function deleteBuffer(buffer: string): TmuxCommand {
  return ["delete-buffer", "-b", buffer];
}

function told({ pane }: TypedPane): string {
  return `list-panes -t ${pane} -F ${pastedMark}`;
}

type Facts = readonly (readonly [variable: string, value: string])[];

/** The check runs inside the server, together with what depends on it. */
function onlyIf(to: TypedPane, more: Facts, then: string): TmuxCommand {
  return ["if-shell", "-F", "-t", to.pane, condition(to, more), then];
}

function condition({ pane, serverPid, tag }: TypedPane, more: Facts = []): string {
  const facts: Facts = [
    ["pid", String(serverPid)],
    ["pane_id", pane],
    ["@troupe_tag", tag],
    ["pane_dead", "0"],
    ["pane_input_off", "0"],
    ...more,
  ];
  const [variables, values] = [facts.map(([name]) => `#{${name}}`), facts.map(([, value]) => value)];
  return `#{==:${variables.join("/")},${values.join("/")}}`;
}
