import { until } from "./until.js";

/** One tmux command line on some server. */
export type TmuxRun = (...args: string[]) => string;

/** What a person sees in one pane, and does with it. */
export interface Pane {
  readonly id: string;
  /** Its text, what has scrolled away included. */
  text(): string;
  shows(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Types a line and Enter. */
  type(line: string): void;
  /** Presses a key by tmux's name for it. */
  press(key: string): void;
}

export function paneOf(run: TmuxRun, id: string): Pane {
  const text = (): string => run("capture-pane", "-p", "-J", "-S", "-", "-t", id);
  return {
    id,
    text,
    shows: (pattern, timeoutMs) => until(() => text().match(pattern), pattern, text, timeoutMs),
    type(line) {
      run("send-keys", "-t", id, "-l", line);
      run("send-keys", "-t", id, "Enter");
    },
    press: (key) => void run("send-keys", "-t", id, key),
  };
}

/** Waits for the pane whose title is, or begins with, a teammate's name. */
export async function paneTitled(run: TmuxRun, name: string): Promise<Pane> {
  const rows = (): string => run("list-panes", "-a", "-F", "#{pane_id} #{pane_title}");
  const id = await until(
    () =>
      rows()
        .split("\n")
        .find((row) => row.slice(row.indexOf(" ") + 1).startsWith(name))
        ?.split(" ")[0],
    `a pane titled ${name}`,
    rows,
  );
  return paneOf(run, id);
}
