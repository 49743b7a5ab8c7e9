import type { EndReason, IdleReason, MemberStateName } from "../team/member-state.js";
import { oneLine } from "../util/text.js";

/** A state in the words of status, views and logs: `idle (waiting-mail)`, `ended (failed): exit code 3`. */
export function stateWords(state: {
  readonly state: MemberStateName;
  readonly reason?: IdleReason | EndReason;
  readonly detail?: string;
}): string {
  const why = state.reason === undefined ? "" : ` (${state.reason})`;
  const detail = state.detail === undefined || state.detail === "" ? "" : `: ${oneLine(state.detail)}`;
  return `${state.state}${why}${detail}`;
}

/** `offline (scripted)`; a scripted model is never shown without that word. */
export function modelLabel(model: string, scripted = model === "offline"): string {
  const label = oneLine(model);
  return scripted && !label.includes("(scripted)") ? `${label} (scripted)` : label;
}

/** Milliseconds for people: `0.3 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return two(minutes, "min", whole % 60, "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return two(hours, "h", minutes % 60, "min");
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

/** A count of tokens: `950`, `12.3k`, `1.2M`. */
export function tokenWords(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `1 file`, `3 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

function two(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
}
