import { logCommand } from "../pane-log.js";
import type { TmuxCommand } from "./client.js";
import { literal } from "./commands.js";

/** What a pane says of the teammate in it, in options that only we set. */
export interface PaneLabel {
  readonly owner: string;
  /** One life of one teammate; also the last word of the command line that the pane was opened with. */
  readonly tag: string;
  readonly agentId: string;
  readonly team: string;
  readonly name: string;
  /** 256-colour number. */
  readonly colour: number;
  /** The file that gets whatever the pane shows. */
  readonly log: string;
}

/** Marks a pane as a teammate's: it stays after its end, carries our options and label, and is logged. */
export function labelPane(pane: string, label: PaneLabel): TmuxCommand[] {
  const own = (name: string, value: string): TmuxCommand => ["set-option", "-p", "-t", pane, name, value];
  return [
    own("remain-on-exit", "on"),
    own("@troupe_owner", label.owner),
    own("@troupe_tag", label.tag),
    own("@troupe_agent", label.agentId),
    own("@troupe_team", label.team),
    own("@troupe_name", label.name.replaceAll("#", "")),
    own("pane-border-format", borderFormat(label.colour)),
    ["set-option", "-w", "-t", pane, "pane-border-status", "top"],
    ["select-pane", "-t", pane, "-T", literal(label.name)],
    // Its time formats are expanded, too.
    ["pipe-pane", "-t", pane, literal(logCommand(label.log)).replaceAll("%", "%%")],
  ];
}

/**
 * The same, in the call that opens the pane, so that not even a program that ends at once is there without its label. A
 * hook of the user's can have moved panes in between: where `target` is another pane, that is left alone. To be followed by
 * {@link listLabels}.
 */
export function labelNewPane(target: string, label: PaneLabel): TmuxCommand {
  const isIt = `#{m:*${label.tag}*,#{pane_start_command}}`;
  const commands = labelPane(target, label).map((command) => command.map(quoted).join(" "));
  return ["if-shell", "-F", "-t", target, isIt, commands.join(" ; ")];
}

/** Prints which panes of a session carry labels, for {@link isLabelled}. */
export function listLabels(session: string): TmuxCommand {
  return ["list-panes", "-s", "-t", session, "-F", labelled("#{pane_id}", "#{@troupe_tag}")];
}

/** Whether {@link listLabels} has shown the label with this tag on this pane. */
export function isLabelled(stdout: string, pane: string, tag: string): boolean {
  return stdout.split("\n").includes(labelled(pane, tag));
}

function labelled(pane: string, tag: string): string {
  return `labelled,${pane},${tag}`;
}

function borderFormat(colour: number): string {
  const number = Math.min(255, Math.max(0, Math.trunc(colour) || 0));
  const state = "#{?@troupe_state, (#{@troupe_state}),#{?pane_dead, (ended),}}";
  return `#{?pane_active,#[reverse],}#[fg=colour${number}] #{@troupe_name}${state} #[default]`;
}

/** A word in a command line that tmux itself takes apart. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
