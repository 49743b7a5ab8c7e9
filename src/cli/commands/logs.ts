import path from "node:path";
import type { TranscriptRecord } from "../../agent/ports.js";
import type { LocatedTeam } from "../../team/locate.js";
import { memberRunDir } from "../../team/paths.js";
import { readMember } from "../../team/records.js";
import { memberNamed } from "../../team/send.js";
import { hostStatus, memberState } from "../../team/status.js";
import { TroupeError } from "../../util/errors.js";
import { usageError } from "../arguments.js";
import { defineCommand } from "../command.js";
import type { Io } from "../io.js";
import { teamOf } from "../team-of.js";

export const logs = defineCommand({
  name: "logs",
  describe: "Show what a member did: an agent's transcript, a command's output",
  positionals: ["NAME"],
  required: 0,
  options: {
    follow: { type: "boolean", short: "f", describe: "keep printing until the member ends" },
    host: { type: "boolean", describe: "the log of the team's host instead" },
  },
  examples: [
    ["troupe logs reviewer", "what reviewer did so far"],
    ["troupe logs tests --follow", "a command's output as it comes"],
    ["troupe logs --host", "what the host noted"],
  ],
  async run({ options, positionals: [name] }, io) {
    if (options.host === (name !== undefined))
      throw usageError(undefined, "logs: give a NAME or --host", "troupe logs --help");
    const team = teamOf(io, options.team);
    const source = name === undefined ? hostLog(team) : memberLog(team, name);
    const render = options.json ? asJson(source) : await asText(source, io);
    const { fileLines } = await import("../tail.js");
    let empty = true;
    for await (const line of fileLines(
      source.file,
      { follow: options.follow, isOver: source.isOver },
      io.signal,
    )) {
      const text = render(line);
      if (text === "") continue;
      empty = false;
      await io.print(text);
    }
    if (empty) await io.note(`troupe: ${source.subject} has left nothing to show`);
    return 0;
  },
});

interface Source {
  readonly subject: string;
  readonly kind: "transcript" | "output";
  readonly file: string;
  /** Whether nothing will be added any more. */
  readonly isOver: () => boolean;
}

function hostLog({ paths }: LocatedTeam): Source {
  const isOver = () => hostStatus(paths).state !== "running";
  return { subject: "the host", kind: "output", file: paths.hostLog, isOver };
}

function memberLog(team: LocatedTeam, typed: string): Source {
  const { paths } = team;
  const name = memberNamed(team, typed);
  const member = readMember(paths, name);
  if (member === undefined || member.kind === "user")
    throw new TroupeError("no-log", `${name} has no log`, {
      kind: "not-found",
      remedy: name === "user" ? "your mail: troupe inbox --peek" : "troupe status",
    });
  const kind = member.kind === "agent" ? "transcript" : "output";
  return {
    subject: name,
    kind,
    file: path.join(
      memberRunDir(paths, member.incarnation),
      kind === "transcript" ? "transcript.jsonl" : "output.log",
    ),
    isOver() {
      const now = readMember(paths, name);
      return (
        now === undefined ||
        now.incarnation !== member.incarnation ||
        memberState(now, hostStatus(paths)).state === "ended"
      );
    },
  };
}

/** NDJSON: a transcript's records as they stand, a line of output as `{"line": …}`. */
function asJson({ kind }: Source): (line: string) => string {
  if (kind === "output") return (line) => `${JSON.stringify({ line })}\n`;
  return (line) => (recordOf(line) === undefined ? "" : `${line}\n`);
}

async function asText({ kind }: Source, io: Io): Promise<(line: string) => string> {
  if (kind === "output") {
    const { lastLines } = await import("../../../backends/output-log.js");
    return (line) => `${lastLines(line, Number.POSITIVE_INFINITY)}\n`;
  }
  const [{ renderTranscript }, { createStyle }, { parseFrames }] = await Promise.all([
    import("../../ui/transcript-view.js"),
    import("../../ui/style.js"),
    import("../../agent/message-frame.js"),
  ]);
  const style = createStyle(io.stdout, io.env);
  const columns = io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  return (line) => {
    const record = recordOf(line);
    if (record === undefined) return "";
    const rows = renderTranscript(record, { style, columns, findMail: parseFrames });
    return rows.map((row) => `${row}\n`).join("");
  };
}

/** A transcript's line as a record; undefined for one that a crash tore, or that is no message. */
function recordOf(line: string): TranscriptRecord | undefined {
  try {
    const record = JSON.parse(line);
    const content = record?.message?.content;
    const known = record?.type === "user" || record?.type === "assistant";
    return known && (typeof content === "string" || Array.isArray(content)) ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
