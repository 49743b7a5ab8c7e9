import { readMembers } from "../../team/records.js";
import { memberNamed } from "../../team/send.js";
import type { TeamMailProblem, TeamMessage } from "../../team/team-mail.js";
import { exitCodes } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import { oneLine } from "../../util/text.js";
import { defineCommand } from "../command.js";
import type { Io } from "../io.js";
import { teamOf } from "../team-of.js";

export const mail = defineCommand({
  name: "mail",
  describe: "Show the mail of the team, of A, or between A and B; mail that was pruned is no longer there",
  positionals: ["A", "B"],
  required: 0,
  options: {
    follow: {
      type: "boolean",
      short: "f",
      describe: "keep printing mail as it comes; with --json one line each",
    },
  },
  examples: [
    ["troupe mail", "all mail of the team, answers under what they answer; none is taken"],
    ["troupe mail lead reviewer", "what these two wrote to each other"],
    ["troupe mail reviewer --follow", "what reviewer gets and writes, as it happens"],
  ],
  async run({ options, positionals }, io) {
    const team = teamOf(io, options.team);
    const between = positionals.map((name) => memberNamed(team, name));
    const { openTeamMail } = await import("../../team/team-mail.js");
    const all = openTeamMail(team, between);
    const render = options.json ? asJson : await asText(io, readMembers(team.paths));
    let troubled = false;
    const tell = async (problems: readonly TeamMailProblem[]): Promise<void> => {
      for (const problem of problems) await io.note(`troupe: ${problemText(problem)}`);
      troubled ||= problems.some((problem) => "trouble" in problem);
    };
    const { messages, problems } = all.news();
    await tell(problems);
    if (options.json && !options.follow) {
      const document = { team: team.record.name, between, messages: messages.map(documentOf) };
      await io.print(`${JSON.stringify(document)}\n`);
    } else if (messages.length > 0) await io.print(render(messages, !options.follow || !options.json));
    else if (!options.follow) await io.note(`no mail ${whose(between, team.record.name)}`);
    if (options.follow) {
      const { followTeamMail } = await import("../../team/follow-team-mail.js");
      const bell = async (): Promise<void> => {
        const { messages, problems } = all.news();
        await tell(problems);
        if (messages.length > 0) await io.print(render(messages, false));
      };
      const trouble = (error: Error): void => void io.note(`troupe: ${error.message}`);
      await followTeamMail(team.paths, all, bell, trouble, io.signal);
    }
    return troubled ? exitCodes.failed : 0;
  },
});

/** Messages as text to print; `whole`: they are all there are, and not what comes after others. */
type Render = (messages: readonly TeamMessage[], whole: boolean) => string;

const asJson: Render = (messages) => messages.map((each) => `${JSON.stringify(documentOf(each))}\n`).join("");

async function asText(io: Io, members: ReturnType<typeof readMembers>): Promise<Render> {
  const [{ renderMail, renderThread }, { createStyle }] = await Promise.all([
    import("../../ui/mail-thread.js"),
    import("../../ui/style.js"),
  ]);
  const colours = new Map(members.map(({ name, colour }) => [nameKey(name), colour]));
  const style = createStyle(io.stdout, io.env);
  return (messages, whole) => {
    const look = {
      style,
      columns: io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
      now: new Date(),
      colourOf: (name: string) => colours.get(nameKey(name)) ?? "",
    };
    const rows = whole ? renderThread(messages, look) : messages.flatMap((each) => renderMail(each, look));
    return rows.map((row) => `${row}\n`).join("");
  };
}

function documentOf({ message, recipients, receipt }: TeamMessage): object {
  return { ...message, recipients, receipt };
}

function whose(between: readonly string[], team: string): string {
  const [a, b] = between;
  if (a === undefined) return `in team ${team}`;
  return b === undefined ? `to or from ${a}` : `between ${a} and ${b}`;
}

function problemText(problem: TeamMailProblem): string {
  if ("trouble" in problem) return oneLine(`the mail of ${problem.owner} cannot be read: ${problem.trouble}`);
  const { file, reason } = problem.file;
  return `in the mail of ${problem.owner} ${oneLine(file, 80)} is not shown: ${oneLine(reason)}`;
}
