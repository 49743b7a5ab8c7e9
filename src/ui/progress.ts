import type { AgentEvent } from "../agent/events.js";
import type { TeamEvent } from "../team/events.js";
import { nameKey } from "../util/name-key.js";
import { oneLine, printable } from "../util/text.js";
import { type AgentLines, callText, createAgentLines, sendTool } from "./agent-lines.js";
import { endReportRows } from "./end-report.js";
import { createStyle } from "./style.js";
import { displayWidth, padded } from "./width.js";
import { durationWords, modelLabel, stateWords } from "./words.js";

/** Progress of a headless run: whole lines, each with time and name. */
export interface Progress {
  show(event: TeamEvent): void;
}

/**
 * Writes to `output`, usually stderr. A line is written in one piece and only when it is complete, so members never
 * interleave. Of a call, the beginning is told, and the end where it failed or took long.
 */
export function createProgress(options: {
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
}): Progress {
  const { output } = options;
  const style = createStyle(output, options.env);
  const { symbols } = style;
  const colours = new Map<string, string>();
  const members = new Map<string, AgentLines>();
  let nameWidth = 6;

  const linesOf = (name: string): AgentLines => {
    const key = nameKey(name);
    const lines = members.get(key) ?? createAgentLines({ style, width: () => Number.POSITIVE_INFINITY });
    members.set(key, lines);
    return lines;
  };
  const painted = (name: string, text = oneLine(name)): string =>
    style.paint(colours.get(nameKey(name)) ?? "", text);
  const write = (at: string, name: string, rows: readonly string[]): void => {
    if (rows.length === 0) return;
    const prefix = `${style.dim(clock(at))} ${painted(name, padded(oneLine(name), nameWidth, symbols.more))}  `;
    output.write(rows.map((row) => `${prefix}${row}\n`).join(""));
  };

  const agentRows = (name: string, event: AgentEvent): string[] => {
    const lines = linesOf(name);
    switch (event.type) {
      case "message-in":
        return lines.end();
      case "tool-start":
        return event.tool === sendTool ? lines.end() : [...lines.end(), `${symbols.done} ${callText(event)}`];
      case "tool-end":
        if (event.isError)
          return [
            ...lines.end(),
            style.bad(`${symbols.failed} ${callText(event)}: ${oneLine(event.result)}`),
          ];
        if (event.durationMs < longCallMs || event.tool === sendTool) return lines.end();
        return [...lines.end(), style.dim(`  ${callText(event)}: ${durationWords(event.durationMs)}`)];
      default:
        return lines.add(event);
    }
  };

  /** Whom an event concerns, and its rows. */
  const rowsOf = (event: TeamEvent): readonly [name: string, ...rows: string[]] => {
    switch (event.type) {
      case "team-started":
        return [own, `team ${oneLine(event.team)} runs ${oneLine(`${event.backend}: ${event.reason}`)}`];
      case "member-joined": {
        colours.set(nameKey(event.name), event.colour);
        nameWidth = Math.min(maxNameWidth, Math.max(nameWidth, displayWidth(oneLine(event.name))));
        const model = event.model === undefined ? [] : [modelLabel(event.model)];
        return [event.name, `joined: ${[oneLine(event.what), ...model].join(` ${symbols.dot} `)}`];
      }
      case "member-state":
        if (event.state === "working" || (event.state === "idle" && event.reason === "done"))
          return [event.name];
        return [event.name, ...linesOf(event.name).end(), stateWords(event)];
      case "agent":
        return [event.name, ...agentRows(event.name, event.event)];
      case "output":
        return [event.name, printable(event.line).replaceAll("\n", " ")];
      case "mail":
        return [
          event.from,
          `${painted(event.from)} ${symbols.out} ${painted(event.to)}: ${oneLine(event.summary || event.text)}`,
        ];
      case "member-ended":
        return [event.name, ...endReportRows(event.report, style)];
      case "notice": {
        const line = `${symbols.warning} ${oneLine(event.text)}`;
        return [event.name ?? own, event.level === "warning" ? style.warn(line) : line];
      }
      case "team-ended":
        return [own, `the team has ended: ${oneLine(event.reason)}`];
      case "result":
        return [event.from, ...linesOf(event.from).end()];
    }
  };

  return {
    show(event) {
      const [name, ...rows] = rowsOf(event);
      write(event.at, name, rows);
    },
  };
}

/** The name in front of what concerns the whole team. */
const own = "troupe";
const longCallMs = 2_000;
const maxNameWidth = 16;

/** Local time of day. */
function clock(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "--:--:--";
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
