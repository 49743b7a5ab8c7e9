import fs from "node:fs";
import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import { interpolate, wordsOf } from "./command-line.js";
import { createScreen, type Screen } from "./screen.js";
import type { Area } from "./tree.js";

export type Profile = Readonly<Record<string, unknown>>;

/** A pane: a real program on a pseudo-terminal, its screen, its profile and its variables. */
export interface Session {
  readonly id: string;
  readonly pid: number;
  readonly screen: Screen;
  /** User-defined variables, as JSON. */
  readonly variables: Map<string, string>;
  profile: Profile;
  /** Whether the program, and whoever else held the terminal, has let go of it. */
  hasEnded(): boolean;
  name(): string;
  type(text: string): void;
  resize(area: Area): void;
  /** Reads nothing more of what it writes, which in time stops it. */
  pause(): void;
  /** Takes its terminal away. */
  hangUp(): void;
}

export interface SessionOptions {
  readonly id: string;
  readonly profile: Profile;
  readonly area: Area;
  /** What a program in it gets, whoever asked for it: a poor environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The default profile's program. */
  readonly shell: readonly string[];
  readonly home: string;
  readonly onEnd: () => void;
}

/** Starts the program of a profile. Rejects where there are no pseudo-terminals. */
export async function startSession(options: SessionOptions): Promise<Session> {
  const spawn = await loadSpawn();
  const { id, area, env, home } = options;
  let profile = options.profile;
  const text = (key: string): string => String(profile[key] ?? "");
  const builtIn = (name: string): string | undefined => {
    if (name === "session.name" || name === "name") return text("Name");
    return name === "session.id" || name === "id" ? id : undefined;
  };
  const own = text("Custom Command") === "Yes";
  const [program = "/bin/false", ...args] = own ? wordsOf(text("Command"), builtIn) : options.shell;
  const wanted = text("Custom Directory") === "Yes" ? text("Working Directory") : home;
  const terminal = spawn(program, args, {
    name: "xterm-256color",
    cols: area.width,
    rows: area.height,
    cwd: fs.existsSync(wanted) ? wanted : home,
    env: { ...env },
    encoding: null,
  });
  const screen = createScreen(area.width, area.height);
  const decoder = new StringDecoder("utf8");
  const log = openLog(profile, builtIn);
  let ended = false;
  terminal.onData((chunk) => {
    log?.write(chunk);
    const answer = screen.write(decoder.write(chunk));
    if (answer !== "" && !ended) terminal.write(answer);
  });
  terminal.onExit(() => {
    ended = true;
    log?.close();
    options.onEnd();
  });
  return {
    id,
    pid: terminal.pid,
    screen,
    variables: new Map(),
    get profile() {
      return profile;
    },
    set profile(changed) {
      profile = changed;
    },
    hasEnded: () => ended,
    name() {
      const shown = profile["Allow Title Setting"] === false ? undefined : screen.title();
      return shown ?? text("Name");
    },
    type: (typed) => terminal.write(typed),
    resize({ width, height }) {
      screen.resize(width, height);
      if (ended) return;
      try {
        terminal.resize(width, height);
      } catch (error) {
        // Its program has just ended, and that is not told yet.
        if (!/EBADF|already exited/.test(String(error))) throw error;
      }
    },
    pause: () => terminal.pause(),
    hangUp() {
      if (!ended) terminal.destroy();
    },
  };
}

/** Where a profile asks for it, a file gets what the terminal gets. */
function openLog(profile: Profile, variable: (name: string) => string | undefined) {
  if (profile["Automatically Log"] !== true) return undefined;
  const name = interpolate(String(profile["Log Filename Format"] ?? "session.log"), variable);
  const fd = fs.openSync(path.join(String(profile["Log Directory"]), name), "a");
  return {
    write: (chunk: Buffer) => void fs.writeSync(fd, chunk),
    close: () => fs.closeSync(fd),
  };
}

async function loadSpawn(): Promise<SpawnTerminal> {
  // @ts-expect-error The package's declarations stand under another name than the one it is installed by.
  const { spawn }: { spawn: SpawnTerminal } = await import("node-pty");
  return spawn;
}

/** The part of the library that is used. Without an encoding its data events carry Buffers. */
type SpawnTerminal = (
  file: string,
  args: readonly string[],
  options: {
    name: string;
    cols: number;
    rows: number;
    cwd: string;
    env: Record<string, string>;
    encoding: null;
  },
) => {
  readonly pid: number;
  write(input: string): void;
  resize(columns: number, rows: number): void;
  pause(): void;
  destroy(): void;
  onData(listener: (chunk: Buffer) => void): unknown;
  onExit(listener: () => void): unknown;
};
