import type { ProfileProperty } from "./messages.js";

/** What drives iTerm2: the API here; a program that does it would be another. */
export interface Iterm2Transport {
  /** Which iTerm2 it is: the path of its socket. */
  readonly socket: string;
  /** Every tab of every window, with its sessions. Those that a person has hidden are left out. */
  list(signal?: AbortSignal): Promise<readonly TermTab[]>;
  /** Divides a session; the new one is right of it or below. */
  split(request: {
    readonly session: string;
    readonly vertical: boolean;
    readonly profile: Profile;
  }): Promise<OpenAnswer>;
  /** Opens a tab in a window, at `index`, without going to it; in a new window where none is named. */
  openTab(request: {
    readonly window?: string;
    readonly index?: number;
    readonly profile: Profile;
  }): Promise<OpenAnswer>;
  /** Closes by force. `declined`: iTerm2 asked the person, who kept it. */
  close(session: string): Promise<"closed" | "not-there" | "declined">;
  /** Types text as it is, to this session alone; false where it is not there or has ended. */
  type(session: string, text: string): Promise<boolean>;
  /** Changes the profile of one session; false where it is not there. */
  setProfile(session: string, profile: Profile): Promise<boolean>;
  /** Sets variables of a session, all named `user.…`; false where it is not there. */
  setVariables(session: string, values: Readonly<Record<string, string>>): Promise<boolean>;
  /** The values of variables in the order of their names, undefined for what is not set; undefined if there is no such place. */
  getVariables(
    place: { readonly session: string } | { readonly tab: string },
    names: readonly string[],
  ): Promise<readonly unknown[] | undefined>;
  /** The last lines of a session, the screen and what is above it; undefined where it is not there. */
  screen(session: string, lines: number): Promise<Screen | undefined>;
  /** Gives a session the focus in its tab; with `raise` it is also brought before the person. False where it is not there. */
  activate(session: string, raise: boolean): Promise<boolean>;
  /** Whether a session has been told to have ended since this was first connected. */
  hasEnded(session: string): boolean;
  /** Ends the connection; the next call opens another. Idempotent. */
  disconnect(): void;
}

/** Settings of one session, by the names that profiles have for them; values are plain JSON. */
export type Profile = Readonly<Record<string, unknown>>;

export interface TermTab {
  readonly window: string;
  readonly tab: string;
  /** Its place in the window, from 0 on. */
  readonly index: number;
  readonly sessions: readonly TermSession[];
  /** One of them is maximized, and the others are behind it. */
  readonly zoomed: boolean;
}

/** One session with its size in cells. */
export interface TermSession {
  readonly session: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
}

export type OpenAnswer =
  | { readonly ok: true; readonly session: string }
  /** `not-there`: what was to be divided, or the window, is gone meanwhile. */
  | { readonly ok: false; readonly why: "not-there" | "no-space" };

export interface Screen {
  readonly lines: readonly string[];
  /** The number of the first line, and the cursor's place, counted from the first line that there ever was. */
  readonly first: number;
  readonly cursor: { readonly x: number; readonly y: number };
}

/** A profile as the API takes it. */
export function propertiesOf(profile: Profile): ProfileProperty[] {
  return Object.entries(profile).map(([key, value]) => ({ key, json: JSON.stringify(value) }));
}
