import type { TeamEvent } from "../team/events.js";
import type { MemberState } from "../team/member-state.js";
import { nameKey } from "../util/name-key.js";
import { oneLine } from "../util/text.js";
import { createAgentLines } from "./agent-lines.js";
import { endReportRows } from "./end-report.js";
import { createLastText } from "./last-text.js";
import { createPromptScreen, type PromptHandlers } from "./prompt-screen.js";
import { sameName } from "./same-name.js";
import { stateRow } from "./state-row.js";
import { createStyle } from "./style.js";
import { createTextStream } from "./text-stream.js";
import { createWaitingMail, type MailEvent } from "./waiting-mail.js";
import { modelLabel, stateWords } from "./words.js";

export interface LeadViewOptions extends PromptHandlers {
  readonly team: string;
  /** Who leads: the person at this view, or the agent `lead`. */
  readonly lead: "user" | "lead";
  /** A message was typed: for a member by name, for `lead`, or for everybody (`*`). */
  readonly onMessage: (to: string, text: string) => void;
}

/** The whole team as its lead sees it. */
export interface LeadView {
  show(event: TeamEvent): void;
  /** Puts the terminal back. Idempotent. */
  close(): void;
}

/** Opens the view: draws it and takes the terminal over until `close`. */
export function createLeadView(options: LeadViewOptions): LeadView {
  const style = createStyle(options.output, options.env);
  const { symbols } = style;
  const isOwn = sameName(options.lead);
  const isUser = sameName("user");
  const members = new Map<string, { readonly name: string; colour: string; state?: MemberState }>();
  const waiting = createWaitingMail();
  const lastText = createLastText();
  const screen = createPromptScreen({
    ...options,
    style,
    prompt: options.lead === "lead" ? "message lead: " : "@name message: ",
    onSend(text) {
      const address = addressOf(text, options.lead);
      if (address !== undefined) return options.onMessage(address.to, address.text);
      draw([style.warn(`${symbols.warning} to whom? @name message, or @* message for everybody`)]);
    },
  });
  const lines = createAgentLines({
    style,
    width: () => screen.columns() - 1,
    folded: () => screen.rows() < foldingRows,
  });

  const memberOf = (name: string) => {
    const key = nameKey(name);
    const member = members.get(key) ?? { name, colour: "" };
    members.set(key, member);
    return member;
  };
  const painted = (name: string): string =>
    style.paint(members.get(nameKey(name))?.colour ?? "", oneLine(name));
  const paragraph = (text: string): string[] => {
    const stream = createTextStream(() => screen.columns() - 3);
    return [...stream.add(text), ...stream.end()].map((row) => `  ${row}`);
  };

  const rosterRow = (): string[] => {
    const others = [...members.values()].filter(({ name }) => !isOwn(name) && !isUser(name));
    const entries = others.map(({ name, state }) =>
      state === undefined ? painted(name) : `${painted(name)} ${stateWord(state)}`,
    );
    return entries.length === 0 ? [] : [entries.join(style.dim(` ${symbols.dot} `))];
  };
  const live = (): string[] => {
    const state = members.get(nameKey(options.lead))?.state;
    const canInterrupt = options.input !== undefined;
    return [
      ...lines.live(),
      ...waiting.rows(style),
      ...(options.lead === "lead" && state !== undefined
        ? [`lead ${stateRow({ state, tokens: lines.tokens(), canInterrupt, style })}`]
        : []),
      ...rosterRow(),
    ];
  };

  const mailRows = (mail: MailEvent): string[] => {
    if (isUser(mail.to)) {
      if (isOwn(mail.from) && lastText.is(mail.text)) return [];
      const head = style.bold(`${symbols.in} from ${painted(mail.from)}: ${oneLine(mail.summary)}`);
      return oneLine(mail.text) === oneLine(mail.summary) ? [head] : [head, ...paragraph(mail.text)];
    }
    if (isOwn(mail.to)) waiting.arrived(mail);
    else if (isUser(mail.from))
      return [style.bold(`${symbols.out} to ${painted(mail.to)}: ${oneLine(mail.text)}`)];
    return [];
  };

  const stateRows = (event: Extract<TeamEvent, { type: "member-state" }>): string[] => {
    const member = memberOf(event.name);
    const before = member.state;
    member.state = event;
    const isSame = before?.state === event.state && before.reason === event.reason;
    if (isSame || isOwn(event.name) || isUser(event.name)) return [];
    if (event.reason === "waiting-permission" || event.reason === "waiting-plan") screen.bell();
    return [`${painted(event.name)} ${stateWords(event)}`];
  };

  const rowsOf = (event: TeamEvent): string[] => {
    switch (event.type) {
      case "team-started":
        return [
          `${style.bold(`${symbols.done} team ${oneLine(event.team)}`)}  ${style.dim(oneLine(`${event.backend}: ${event.reason}`))}`,
        ];
      case "member-joined": {
        memberOf(event.name).colour = event.colour;
        const model = event.model === undefined ? [] : [modelLabel(event.model)];
        const facts = [oneLine(event.what), ...model].join(` ${symbols.dot} `);
        return [`${painted(event.name)} joined  ${style.dim(facts)}`];
      }
      case "member-state":
        return stateRows(event);
      case "agent":
        if (!isOwn(event.name)) return [];
        if (event.event.type === "message-in") waiting.read(event.event.ids);
        lastText.add(event.event);
        return lines.add(event.event);
      case "mail":
        return mailRows(event);
      case "member-ended":
        return endReportRows(event.report, style);
      case "notice": {
        const who = event.name === undefined ? "" : `${painted(event.name)}: `;
        const line = `${symbols.warning} ${who}${oneLine(event.text)}`;
        return [event.level === "warning" ? style.warn(line) : style.dim(line)];
      }
      case "result":
        return lastText.is(event.text)
          ? []
          : [style.bold(`${symbols.in} result of ${painted(event.from)}:`), ...paragraph(event.text)];
      case "team-ended":
        return [style.dim(`the team has ended: ${oneLine(event.reason)}`)];
      default:
        return [];
    }
  };
  const draw = (rows: readonly string[]): void => screen.update(rows, live());

  /** What came while the lead was in the middle of a text: it waits for the text's end, so as not to cut it up. */
  let held: string[] = [];
  let isSpeaking = false;

  draw([]);
  return {
    show(event) {
      const rows = rowsOf(event);
      if (event.type === "agent" && isOwn(event.name)) {
        isSpeaking = event.event.type === "text";
        draw(isSpeaking ? rows : [...rows, ...held]);
        if (!isSpeaking) held = [];
      } else if (isSpeaking && held.length < mostHeld) {
        held.push(...rows);
        draw([]);
      } else {
        draw([...lines.end(), ...held, ...rows]);
        held = [];
      }
    },
    close() {
      screen.update([...lines.end(), ...held], []);
      screen.close();
    },
  };
}

/** More rows than this do not wait for a text that goes on and on. */
const mostHeld = 20;

/** Below this many rows of terminal, searches and reads are folded. */
const foldingRows = 20;

/** Whom a typed line is for: `@name message`, or the lead agent where there is one. */
export function addressOf(
  line: string,
  lead: "user" | "lead",
): { readonly to: string; readonly text: string } | undefined {
  const [, to, text] = /^@(\S+)\s+(\S[\s\S]*)$/u.exec(line.trim()) ?? [];
  if (to !== undefined && text !== undefined) return { to, text };
  return lead === "user" || line.trim() === "" ? undefined : { to: "lead", text: line.trim() };
}

/** A member's state in the roster: the state alone, with the reason where it calls for somebody. */
function stateWord({ state, reason }: MemberState): string {
  return reason === undefined || reason === "done" || reason === "completed" ? state : `${state} (${reason})`;
}
