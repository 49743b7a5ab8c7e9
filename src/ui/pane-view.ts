import type { AgentEvent } from "../agent/events.js";
import type { TeamEvent } from "../team/events.js";
import type { MemberState } from "../team/member-state.js";
import { oneLine, printable } from "../util/text.js";
import { createAgentLines } from "./agent-lines.js";
import { createPromptScreen, type PromptHandlers } from "./prompt-screen.js";
import { sameName } from "./same-name.js";
import { stateRow } from "./state-row.js";
import { createStyle, type Style } from "./style.js";
import { createWaitingMail, mailWords } from "./waiting-mail.js";
import { cut } from "./width.js";
import { modelLabel } from "./words.js";

export interface PaneViewOptions extends PromptHandlers {
  /** The teammate's name. */
  readonly title: string;
  /** Name of its colour. */
  readonly colour: string;
  /** Agent definition or command line. */
  readonly what?: string;
  readonly model?: string;
  readonly scripted?: boolean;
  readonly team: string;
  /** A line was typed for the teammate. */
  readonly onLine: (text: string) => void;
}

/** One teammate as seen in its own pane: its work, its state, and a line to write to it. */
export interface PaneView {
  /** Shows an event of this teammate or of the team; events of other members are passed over. */
  show(event: TeamEvent): void;
  state(state: MemberState, activity?: string): void;
  /** Puts the terminal back. Idempotent. */
  close(): void;
}

/** Opens the view: draws it and takes the terminal over until `close`. */
export function createPaneView(options: PaneViewOptions): PaneView {
  const style = createStyle(options.output, options.env);
  const { symbols } = style;
  const name = oneLine(options.title);
  const isOwn = sameName(options.title);
  const screen = createPromptScreen({
    ...options,
    style,
    prompt: `message ${name}: `,
    onSend: options.onLine,
  });
  const lines = createAgentLines({
    style,
    width: () => screen.columns() - 1,
    folded: () => screen.rows() < foldingRows,
  });
  const waiting = createWaitingMail();
  let state: MemberState | undefined;
  let activity = "";
  /** Whether it is an agent, whose own events tell of its mail. */
  let isAgent = options.model !== undefined;

  const live = (): string[] => [
    ...lines.live(),
    ...waiting.rows(style),
    state === undefined
      ? style.dim("starting")
      : stateRow({
          state,
          activity,
          tokens: lines.tokens(),
          canInterrupt: options.input !== undefined,
          style,
        }),
  ];

  const agentRows = (event: AgentEvent): string[] => {
    isAgent = true;
    if (event.type === "message-in") waiting.read(event.ids);
    return lines.add(event);
  };
  const mailRows = (mail: Extract<TeamEvent, { type: "mail" }>): string[] => {
    if (isOwn(mail.to) && isAgent) waiting.arrived(mail);
    else if (isOwn(mail.to)) return [style.bold(`${symbols.in} from ${mailWords(mail.from, mail)}`)];
    else if (isOwn(mail.from) && !isAgent)
      return [style.bold(`${symbols.out} to ${mailWords(mail.to, mail)}`)];
    return [];
  };
  const rowsOf = (event: TeamEvent): string[] => {
    switch (event.type) {
      case "agent":
        return isOwn(event.name) ? agentRows(event.event) : [];
      case "mail":
        return mailRows(event);
      case "output":
        return isOwn(event.name) ? [printable(event.line)] : [];
      case "notice": {
        if (event.name !== undefined && !isOwn(event.name)) return [];
        const line = `${symbols.warning} ${oneLine(event.text)}`;
        return [...lines.end(), event.level === "warning" ? style.warn(line) : style.dim(line)];
      }
      case "member-state":
        if (isOwn(event.name)) setState(event);
        return [];
      case "team-ended":
        return [...lines.end(), style.dim(`the team has ended: ${oneLine(event.reason)}`)];
      default:
        return [];
    }
  };
  const setState = (next: MemberState, doing = activity): void => {
    if (asksForPerson(next) && state?.reason !== next.reason) screen.bell();
    state = next;
    activity = oneLine(doing);
  };

  screen.update([cut(header(options, style), screen.columns(), symbols.more)], live());
  return {
    show: (event) => screen.update(rowsOf(event), live()),
    state(next, doing) {
      setState(next, doing);
      screen.update([], live());
    },
    close() {
      screen.update(lines.end(), []);
      screen.close();
    },
  };
}

/** Below this many rows of terminal, searches and reads are folded. */
const foldingRows = 20;

function asksForPerson(state: MemberState): boolean {
  return state.reason === "waiting-permission" || state.reason === "waiting-plan";
}

function header(options: PaneViewOptions, style: Style): string {
  const facts = [
    ...(options.what === undefined ? [] : [oneLine(options.what)]),
    ...(options.model === undefined ? [] : [modelLabel(options.model, options.scripted)]),
    `team ${oneLine(options.team)}`,
  ].join(` ${style.symbols.dot} `);
  const name = style.bold(style.paint(options.colour, `${style.symbols.done} ${oneLine(options.title)}`));
  return `${name}  ${style.dim(facts)}`;
}
