import type { TmuxCommand } from "./client.js";
import { literal, type PaneRow, placeholderTag, rowFormat } from "./commands.js";

/** Starts a server of our own with a session whose only window waits for the first real one. Prints its row. */
export function startOwnServer(
  session: string,
  team: string,
  owner: string,
  trueColour: boolean,
): TmuxCommand[] {
  const title = literal(team);
  const global: readonly [string, string][] = [
    ["default-terminal", "screen-256color"],
    ["history-limit", "50000"],
    ["mouse", "on"],
    ["pane-border-status", "top"],
    ["status-left", `#[bold] ${title} #[default]`],
    ["status-left-length", "40"],
    ["status-right", " #{prefix} d: leave, the team works on "],
    ["status-right-length", "60"],
  ];
  return [
    ["start-server"],
    // Esc interrupts a teammate; tmux holds it back for half a second by default.
    ["set-option", "-s", "escape-time", "20"],
    ...(trueColour ? [["set-option", "-s", "-a", "terminal-features", ",*:RGB"]] : []),
    ...global.map(([name, value]): TmuxCommand => ["set-option", "-g", name, value]),
    [
      "new-session",
      "-d",
      "-x",
      "220",
      "-y",
      "60",
      "-s",
      session,
      "-n",
      "starting",
      "-P",
      "-F",
      rowFormat,
      "--",
      ...idle,
    ],
    ["set-option", "-p", "-t", `=${session}:`, "@troupe_owner", owner],
    ["set-option", "-p", "-t", `=${session}:`, "@troupe_tag", placeholderTag],
  ];
}

/**
 * Undoes what a user's configuration could do to a server of our own that would end it or make it crash. Belongs into the
 * same call: without a client, the server acts on such settings at once.
 */
export function guardOwnServer(session: string): TmuxCommand[] {
  return [
    // With a size policy of `manual`, tmux 3.3a to 3.6 crash at the next window of a server without clients.
    ["set-option", "-g", "window-size", "latest"],
    ["set-option", "-s", "exit-unattached", "off"],
    ["set-option", "-s", "exit-empty", "on"],
    ["set-option", "-g", "destroy-unattached", "off"],
    ["set-option", "-t", `=${session}:`, "destroy-unattached", "off"],
  ];
}

/** Reads a configuration file. Whatever is wrong in it fails the call, but not the commands that come after. */
export function sourceFile(file: string): TmuxCommand {
  return ["if-shell", "-F", "1", `source-file -q "${file.replace(/["\\$]/g, "\\$&")}"`];
}

/** Ends the sessions and windows that a configuration opened: there is only ours, with its first window. */
export function keepOnly({ session, window }: PaneRow): TmuxCommand[] {
  return [
    ["kill-session", "-a", "-t", session],
    ["kill-window", "-a", "-t", window],
  ];
}

/** Prints the hooks in force, for {@link parseEndingHooks}. */
export function listHooks(session: string): TmuxCommand[] {
  return [
    ["show-hooks", "-g"],
    ["show-hooks", "-g", "-w"],
    ["show-hooks", "-t", session],
  ];
}

/** One hook out of the output of {@link listHooks}: `name[index]`, and what it does. */
export interface Hook {
  readonly name: string;
  readonly command: string;
}

/** The hooks that would end or start anew what runs in a pane, such as `client-detached[0] kill-server`. */
export function parseEndingHooks(stdout: string): Hook[] {
  return stdout.split("\n").flatMap((line) => {
    const [, name, command] = /^([a-z-]+\[\d+\]) (.*)$/.exec(line) ?? [];
    return name !== undefined && command !== undefined && /\b(kill|respawn)/.test(command)
      ? [{ name, command }]
      : [];
  });
}

/** Takes hooks out of a server of our own, wherever they are set. Hooks are options of a kind. */
export function dropHooks(hooks: readonly Hook[], session: string): TmuxCommand[] {
  return hooks.flatMap(({ name }) => [
    ["set-option", "-g", "-u", name],
    ["set-option", "-u", "-t", session, name],
  ]);
}

/** Prints a row for the session's current pane; fails if there is no session of that name. */
export function listSession(session: string): TmuxCommand {
  return ["list-panes", "-s", "-t", `=${session}:`, "-F", rowFormat];
}

export function killServer(): TmuxCommand {
  return ["kill-server"];
}

export function attachSession(session: string): TmuxCommand {
  return ["attach-session", "-t", `=${session}`];
}

const idle = ["/bin/sh", "-c", "exec cat"];
