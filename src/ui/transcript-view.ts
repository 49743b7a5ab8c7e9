import type { TranscriptRecord } from "../agent/ports.js";
import { oneLine } from "../util/text.js";
import { callText, recipientText, sendTool } from "./agent-lines.js";
import type { Style } from "./style.js";
import { createTextStream } from "./text-stream.js";
import { cut } from "./width.js";

/** One message of the team, found in the text of a conversation. */
export interface FoundMail {
  readonly from: string;
  readonly summary?: string;
  readonly text: string;
}

export interface TranscriptViewOptions {
  readonly style: Style;
  /** Columns a row may take; `Infinity` for files and pipes. */
  readonly columns: number;
  /** Finds mail in the text of a user record. Without it, mail is shown as the model saw it. */
  readonly findMail?: (text: string) => readonly FoundMail[];
  /** One line about a tool's input. Default: its most telling field. */
  readonly summarise?: (tool: string, input: unknown) => string;
}

/** A record of a conversation as rows that are safe for a terminal. Thinking and pictures are named, not shown. */
export function renderTranscript(record: TranscriptRecord, options: TranscriptViewOptions): string[] {
  const { content } = record.message;
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return blocks.flatMap((block) => {
    if (block.type === "text")
      return record.type === "user" ? userRows(block.text, options) : textRows(block.text, options);
    return blockRows(block, options);
  });
}

type Block = Exclude<TranscriptRecord["message"]["content"], string>[number];

function userRows(text: string, options: TranscriptViewOptions): string[] {
  const { style } = options;
  const mail = options.findMail?.(text) ?? [];
  if (mail.length === 0) return textRows(text, options).map((row) => style.dim(`> ${row}`));
  return mail.flatMap(({ from, summary, text: body }) => [
    cutRow(
      style.bold(`${style.symbols.in} from ${oneLine(from)}${summary ? `: ${oneLine(summary)}` : ""}`),
      options,
    ),
    ...(oneLine(body) === oneLine(summary ?? "") ? [] : textRows(body, options).map((row) => `  ${row}`)),
  ]);
}

function blockRows(block: Block, options: TranscriptViewOptions): string[] {
  const { style } = options;
  switch (block.type) {
    case "tool_use": {
      const summary = (options.summarise ?? tellingField)(block.name, block.input);
      if (block.name === sendTool)
        return [cutRow(style.bold(`${style.symbols.out} to ${recipientText(summary)}`), options)];
      return [
        cutRow(`${style.good(style.symbols.done)} ${callText({ tool: block.name, summary })}`, options),
      ];
    }
    case "tool_result": {
      const text = resultText(block.content);
      const line = oneLine(text.split("\n", 1)[0] ?? "");
      const more = text.includes("\n") ? ` ${style.symbols.more} ${text.split("\n").length} lines` : "";
      return [
        cutRow(block.is_error ? style.bad(`  ${line}${more}`) : style.dim(`  ${line}${more}`), options),
      ];
    }
    case "thinking":
    case "redacted_thinking":
      return [style.dim("  (thinking)")];
    default:
      return [style.dim(`  (${oneLine(block.type)})`)];
  }
}

function textRows(text: string, options: TranscriptViewOptions): string[] {
  const stream = createTextStream(() => Math.max(8, options.columns - 2));
  return [...stream.add(text.trim()), ...stream.end()];
}

function cutRow(row: string, options: TranscriptViewOptions): string {
  return cut(row, options.columns, options.style.symbols.more);
}

function resultText(content: Extract<Block, { type: "tool_result" }>["content"]): string {
  if (content === undefined) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
}

/** Fields by which people know a call, the most telling first. */
const telling = [
  "command",
  "file_path",
  "pattern",
  "path",
  "url",
  "query",
  "subject",
  "description",
  "prompt",
] as const;

function tellingField(tool: string, input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = new Map(Object.entries(input));
  if (tool === sendTool)
    return oneLine(`${fields.get("to")}: ${fields.get("summary") ?? fields.get("message")}`);
  const found = telling.map((name) => fields.get(name)).find((value) => typeof value === "string");
  return oneLine(typeof found === "string" ? found : JSON.stringify(input), 120);
}
