import type { AgentEvent, QueryResult, Usage } from "../agent/events.js";
import { oneLine } from "../util/text.js";
import { createFoldedCalls } from "./folded-calls.js";
import type { Style } from "./style.js";
import { createTextStream } from "./text-stream.js";
import { cut, displayWidth } from "./width.js";
import { counted, durationWords, tokenWords } from "./words.js";

/** One agent's events as rows that are safe for a terminal. */
export interface AgentLines {
  /** The rows that are complete with this event, in order. */
  add(event: AgentEvent): string[];
  /** Rows of what goes on now: folded calls, running tools, the unfinished row of text. */
  live(): string[];
  /** Completes whatever is open. */
  end(): string[];
  /** Tokens of the latest request, and written in all. */
  tokens(): { readonly context: number; readonly output: number };
}

export interface AgentLinesOptions {
  readonly style: Style;
  /** Columns a row may take, asked anew for every row; `Infinity` for logs. */
  readonly width: () => number;
  /** Whether searches and reads are folded and counted, asked at each call. Default never. */
  readonly folded?: () => boolean;
}

export function createAgentLines(options: AgentLinesOptions): AgentLines {
  const { style, width } = options;
  const { symbols } = style;
  const text = createTextStream(width);
  const folded = createFoldedCalls();
  const running = new Map<string, string>();
  let context = 0;
  let output = 0;

  const row = (line: string): string => cut(line, width(), symbols.more);
  const settle = (): string[] => {
    const line = folded.take();
    return [...text.end(), ...(line === undefined ? [] : [foldedRow(line)])];
  };
  const foldedRow = (line: string): string => row(`${style.good(symbols.done)} ${oneLine(line)}`);
  const settled = (...lines: string[]): string[] => [...settle(), ...lines.map(row)];

  const toolEnd = (event: Extract<AgentEvent, { type: "tool-end" }>): string[] => {
    running.delete(event.id);
    if (options.folded?.() === true && folded.add(event)) return text.end();
    if (event.isError)
      return settled(
        `${style.bad(symbols.failed)} ${callText(event)} ${style.dim(durationWords(event.durationMs))}`,
        `  ${style.bad(oneLine(event.result))}`,
      );
    if (event.tool === sendTool)
      return settled(style.bold(`${symbols.out} to ${recipientText(event.summary)}`));
    return [...settle(), toolRow(event, style, width())];
  };

  const turnEnd = (usage: Usage, stopReason: string): string[] => {
    context = usage.input + usage.cacheRead + usage.cacheWrite;
    output += usage.output;
    if (ordinaryStops.includes(stopReason)) return text.end();
    return settled(style.warn(`${symbols.warning} the model stopped: ${oneLine(stopReason)}`));
  };

  return {
    add(event) {
      switch (event.type) {
        case "turn-start":
          return text.end();
        case "text": {
          const line = folded.take();
          return [...(line === undefined ? [] : [foldedRow(line)]), ...text.add(event.text)];
        }
        case "text-end":
          return text.end();
        case "tool-start":
          running.set(event.id, callText(event));
          return text.end();
        case "tool-end":
          return toolEnd(event);
        case "denied":
          return settled(
            `${style.warn(symbols.failed)} ${callText(event)}`,
            `  ${style.warn(`denied: ${oneLine(event.reason)}`)}`,
          );
        case "message-in":
          return settled(...event.labels.map((label) => style.bold(`${symbols.in} ${labelText(label)}`)));
        case "retry":
          return settled(style.warn(`${symbols.warning} ${retryText(event)}`));
        case "turn-end":
          return turnEnd(event.usage, event.stopReason);
        case "notice": {
          const line = `${symbols.warning} ${oneLine(event.text)}`;
          return settled(event.level === "warning" ? style.warn(line) : style.dim(line));
        }
        case "result":
          running.clear();
          return settled(resultRow(event.result, style));
        default:
          return [];
      }
    },
    live() {
      const line = folded.line();
      const calls = [...running.values()];
      const hidden = calls.length - shownCalls;
      return [
        ...(line === undefined ? [] : [foldedRow(line)]),
        ...calls.slice(-shownCalls).map((call) => row(`${symbols.running} ${call} ${symbols.more}`)),
        ...(hidden > 0 ? [row(style.dim(`  +${hidden} hidden`))] : []),
        ...(text.open() === "" ? [] : [text.open()]),
      ];
    },
    end: settle,
    tokens: () => ({ context, output }),
  };
}

/** `Grep "TODO" in src`. */
export function callText(call: { readonly tool: string; readonly summary: string }): string {
  return oneLine(`${call.tool} ${call.summary}`);
}

/** The tool whose calls are shown as mail. */
export const sendTool = "SendMessage";

/** `lead: the summary`, from the summary of a call of {@link sendTool}. */
export function recipientText(summary: string): string {
  return oneLine(summary).replace(/^(\u2192|->) ?/, "");
}

export function retryText(event: Extract<AgentEvent, { type: "retry" }>): string {
  const why = event.status === 0 ? "no answer from the model" : `HTTP ${event.status} from the model`;
  return `${why}; attempt ${event.attempt + 1} in ${durationWords(event.waitMs)}`;
}

const shownCalls = 3;
const ordinaryStops: readonly string[] = ["end_turn", "tool_use", "stop_sequence", "pause_turn"];

/** `from lead: the summary` of a mail; other labels as they are. */
function labelText(label: string): string {
  return oneLine(label).replace(/^mail /, "");
}

/** A call with its outcome, as much of it as fits, and its time, which always fits. */
function toolRow(event: Extract<AgentEvent, { type: "tool-end" }>, style: Style, width: number): string {
  const { symbols } = style;
  const time = durationWords(event.durationMs);
  const head = cut(callText(event), Math.max(10, width - time.length - 4), symbols.more);
  const result = oneLine(event.result);
  const room = width - displayWidth(head) - time.length - 6 - symbols.dot.length;
  const outcome = room >= 8 && result !== "" ? `${cut(result, room, symbols.more)} ${symbols.dot} ` : "";
  return cut(`${style.good(symbols.done)} ${head}  ${style.dim(outcome + time)}`, width, symbols.more);
}

function resultRow(result: QueryResult, style: Style): string {
  const { dot, failed, warning } = style.symbols;
  const read = result.billed.input + result.billed.cacheRead + result.billed.cacheWrite;
  const figures = [
    counted(result.turns, "turn"),
    counted(result.toolUses, "tool call"),
    `${tokenWords(read)} tokens in`,
    `${tokenWords(result.billed.output)} out`,
  ].join(` ${dot} `);
  switch (result.status) {
    case "completed":
      return style.dim(`  done ${dot} ${figures}`);
    case "failed":
      return style.bad(`${failed} failed: ${oneLine(result.error?.message ?? "no reason given")}`);
    case "aborted":
      return style.warn(`${warning} interrupted ${dot} ${figures}`);
    case "refused":
      return style.warn(`${warning} the model refused to go on ${dot} ${figures}`);
    case "max-turns":
      return style.warn(`${warning} stopped at the limit of turns ${dot} ${figures}`);
  }
}
