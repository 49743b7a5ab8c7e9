import type { Placement } from "../types.js";
import type { TmuxCommand } from "./client.js";

/** One pane of a server, as `list-panes` or the command that made it tells. */
export interface PaneRow {
  readonly serverPid: number;
  /** `$N`, `@N`, `%N`: ids that a server never gives twice. */
  readonly session: string;
  readonly window: string;
  readonly pane: string;
  readonly panePid: number;
  readonly dead: boolean;
  readonly width: number;
  readonly height: number;
  readonly zoomed: boolean;
  /** Panes in the window. */
  readonly panes: number;
  /** Which team the pane belongs to; empty for a pane that is not ours. */
  readonly owner: string;
  readonly tag: string;
  /** `pane-border-status` of the window before we set it, `unset` where it had none; empty where we did not. */
  readonly restore: string;
}

/** The tags of the lead's view, and of the pane that holds an own server's session until there is a real one. */
export const leadTag = "lead";
export const placeholderTag = "placeholder";

/** What a command is to print of a pane, for {@link parseRows}. */
export const rowFormat = [
  "pid",
  "session_id",
  "window_id",
  "pane_id",
  "pane_pid",
  "pane_dead",
  "window_width",
  "window_height",
  "window_zoomed_flag",
  "window_panes",
  "@troupe_owner",
  "@troupe_tag",
  "@troupe_restore",
]
  .map((name) => `#{${name}}`)
  .join(",");

/** Rows out of the output of a call; lines that are none are passed over. */
export function parseRows(stdout: string): PaneRow[] {
  return stdout.split("\n").flatMap((line) => {
    const [pid, session, window, pane, panePid, dead, width, height, zoomed, panes, owner, tag, restore] =
      line.split(",");
    if (!/^\d+$/.test(pid ?? "") || !pane?.startsWith("%") || restore === undefined) return [];
    return [
      {
        session: session ?? "",
        window: window ?? "",
        serverPid: Number(pid),
        pane,
        panePid: Number(panePid),
        dead: dead === "1",
        width: Number(width),
        height: Number(height),
        zoomed: zoomed === "1",
        panes: Number(panes),
        owner: owner ?? "",
        tag: tag ?? "",
        restore,
      },
    ];
  });
}

export function listAllPanes(): TmuxCommand {
  return ["list-panes", "-a", "-F", rowFormat];
}

/** Only the row of one pane; fails if there is no such pane. */
export function listPane(pane: string): TmuxCommand {
  return ["list-panes", "-t", pane, "-f", `#{==:#{pane_id},${pane}}`, "-F", rowFormat];
}

/** A window behind all others of a session, not made the current one; {@link lastWindow} is then it. Prints its row. */
export function newWindow(session: string, name: string, argv: readonly string[]): TmuxCommand {
  return [
    "new-window",
    "-d",
    "-a",
    "-t",
    lastWindow(session),
    "-n",
    literal(name),
    "-P",
    "-F",
    rowFormat,
    "--",
    ...twoWords(argv),
  ];
}

export function lastWindow(session: string): string {
  return `${session}:{end}`;
}

/** A pane at the end of a window, not made the active one; {@link lastPane} is then it. Prints its row. */
export function splitWindow(window: string, placement: Placement, argv: readonly string[]): TmuxCommand {
  const direction = placement.layout === "even-vertical" ? "-v" : "-h";
  return [
    "split-window",
    "-d",
    "-f",
    direction,
    "-t",
    window,
    "-P",
    "-F",
    rowFormat,
    "--",
    ...twoWords(argv),
  ];
}

/** The pane that a split of the whole window has just made. */
export function lastPane(window: string): string {
  return `${window}.{bottom-right}`;
}

/** Notes whether a pane of the window is zoomed, which every split undoes, for {@link zoomAgain}. */
export function rememberZoom(window: string): TmuxCommand {
  return ["set-option", "-w", "-F", "-t", window, "@troupe_zoomed", "#{window_zoomed_flag}"];
}

/** Zooms the active pane of the window again if it was zoomed before. */
export function zoomAgain(window: string): TmuxCommand[] {
  return [
    // The command itself goes to and fro.
    [
      "if-shell",
      "-F",
      "-t",
      window,
      "#{?window_zoomed_flag,0,#{@troupe_zoomed}}",
      `resize-pane -Z -t ${window}`,
    ],
    forgetZoom(window),
  ];
}

/** Prints the zoomed pane of every window that has one, for {@link parseZoomed}. */
export function listZoomed(): TmuxCommand {
  return [
    "list-panes",
    "-a",
    "-f",
    "#{&&:#{window_zoomed_flag},#{pane_active}}",
    "-F",
    "zoomed,#{window_id},#{pane_id}",
  ];
}

/** The pane that is zoomed in a window, out of the output of {@link listZoomed}. */
export function parseZoomed(stdout: string, window: string): string | undefined {
  const line = stdout.split("\n").find((text) => text.startsWith(`zoomed,${window},`));
  return line?.split(",")[2];
}

export function zoomPane(pane: string): TmuxCommand {
  return ["resize-pane", "-Z", "-t", pane];
}

/** Cleans up after a {@link rememberZoom} whose splits failed. */
export function forgetZoom(window: string): TmuxCommand {
  return ["set-option", "-w", "-u", "-t", window, "@troupe_zoomed"];
}

/** Arranges a window; `lead` is its first pane, for a layout that gives the lead a side of its own. */
export function arrange(window: string, placement: Placement, lead: string | undefined): TmuxCommand[] {
  const { layout, leadWidth } = placement;
  if (layout === "windows") return [];
  if (layout !== "main-vertical") return [["select-layout", "-t", window, layout]];
  if (lead === undefined) return [["select-layout", "-t", window, "tiled"]];
  const width = Math.min(90, Math.max(10, Math.round(leadWidth)));
  return [
    ["select-layout", "-t", window, "main-vertical"],
    ["resize-pane", "-t", lead, "-x", `${width}%`],
  ];
}

/** Marks the lead's own view; it is closed when it ends well and stays when it fails. */
export function tagLead(pane: string, owner: string, team: string): TmuxCommand[] {
  return [
    ["set-option", "-p", "-t", pane, "remain-on-exit", "failed"],
    ["set-option", "-p", "-t", pane, "@troupe_owner", owner],
    ["set-option", "-p", "-t", pane, "@troupe_tag", leadTag],
    ["set-option", "-p", "-t", pane, "pane-border-format", ` lead of ${literal(team)} `],
    ["set-option", "-w", "-t", pane, "pane-border-status", "top"],
  ];
}

/** Closes a pane if it still carries the tag (or, not tagged yet, belongs to the server); else does nothing. */
export function killPaneIf(pane: string, serverPid: number, tag: string | undefined): TmuxCommand {
  return onlyIf(pane, serverPid, tag, `kill-pane -t ${pane}`);
}

/** Makes a tagged pane the active one of its window, and its window the current one. */
export function focusPaneIf(pane: string, serverPid: number, tag: string | undefined): TmuxCommand {
  return onlyIf(pane, serverPid, tag, `select-window -t ${pane} ; select-pane -t ${pane}`);
}

/** Sets the text behind the name in a tagged pane's border. */
export function showStateIf(pane: string, serverPid: number, tag: string, text: string): TmuxCommand {
  // What a value holds is taken for a style where it looks like one, and cannot hold the quote that ends it.
  const plain = text.replaceAll(/[#']/g, "");
  return onlyIf(pane, serverPid, tag, `set-option -p -t ${pane} @troupe_state '${plain}'`);
}

export function capturePane(pane: string, lines: number): TmuxCommand {
  return ["capture-pane", "-p", "-J", "-t", pane, "-S", `-${Math.max(0, lines)}`];
}

/** Prints the window's own value of an option; nothing where it has none. */
export function showWindowOption(target: string, name: string): TmuxCommand {
  return ["show-options", "-w", "-v", "-q", "-t", target, name];
}

/** Remembers, on the window itself, how its border was before we change it. */
export function rememberBorder(window: string, value: string): TmuxCommand {
  return ["set-option", "-w", "-t", window, "@troupe_restore", value === "" ? "unset" : value];
}

/** Puts a window's border back as {@link rememberBorder} kept it, unless somebody has changed it since. */
export function restoreBorder(window: string, kept: string): TmuxCommand[] {
  const option = `-t ${window} pane-border-status`;
  const border = /^(top|bottom|off)$/.test(kept) ? `-w ${option} ${kept}` : `-w -u ${option}`;
  return [
    ["if-shell", "-F", "-t", window, "#{==:#{pane-border-status},top}", `set-option ${border}`],
    ["set-option", "-w", "-u", "-t", window, "@troupe_restore"],
  ];
}

export function killWindow(window: string): TmuxCommand {
  return ["kill-window", "-t", window];
}

/** The check runs inside the server, together with what depends on it. */
function onlyIf(pane: string, serverPid: number, tag: string | undefined, then: string): TmuxCommand {
  const format = tag === undefined ? "#{pid},#{pane_id}" : "#{pid},#{pane_id},#{@troupe_tag}";
  const expected = tag === undefined ? [serverPid, pane] : [serverPid, pane, tag];
  // A comma separates the sides of a comparison.
  const side = (text: string): string => text.replaceAll(",", "#,");
  return ["if-shell", "-F", "-t", pane, `#{==:${side(format)},${side(expected.join(","))}}`, then];
}

/** Text in a place where tmux expands formats. */
export function literal(text: string): string {
  return text.replaceAll("#", "##");
}

/** tmux hands a single word to the user's shell; two or more it runs as they are. */
function twoWords(argv: readonly string[]): readonly string[] {
  return argv.length === 1 ? ["/usr/bin/env", ...argv] : argv;
}
