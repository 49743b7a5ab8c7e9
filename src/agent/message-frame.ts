/** A message as it stands in a conversation. Everything in it was written by somebody who may be hostile. */
export interface Frame {
  readonly id: string;
  /** The sender's name; `external:NAME` where nothing proves it. */
  readonly from: string;
  readonly kind: string;
  readonly summary?: string;
  readonly inReplyTo?: string;
  /** What the sender may decide, where it may: the reader is told, nothing is granted by it. */
  readonly authority?: string;
  /** Where `text` is only the beginning: of how much, and the file that holds all of it. */
  readonly cut?: string;
  readonly text: string;
}

/**
 * A message as text for the model: `<mail id="…" from="…" kind="…">`, a line break, the text, a line break, `</mail>`.
 * Every `&`, `<`, `>` and `"` of its parts is escaped, so no part can end the frame, open another or add an attribute. Halves
 * of a surrogate pair, which are no characters, become U+FFFD: no server takes them.
 */
export function frameMessage(frame: Frame): string {
  const attributes = attributeNames.flatMap(([attribute, field]) => {
    const value = frame[field];
    return value === undefined ? [] : [` ${attribute}="${escapeAttribute(value)}"`];
  });
  return `<mail${attributes.join("")}>\n${escapeText(frame.text)}\n</mail>`;
}

/** The messages framed in `text`, in order; what is not a whole frame is passed over. */
export function parseFrames(text: string): readonly Frame[] {
  const frames: Frame[] = [];
  for (const [, attributes = "", body = ""] of text.matchAll(
    /<mail((?: [a-z-]+="[^"<>]*")+)>\n([^<>]*)\n<\/mail>/g,
  )) {
    const values = new Map<string, string>();
    for (const [, name = "", value = ""] of attributes.matchAll(/ ([a-z-]+)="([^"]*)"/g))
      values.set(name, plain(value));
    const [id, from, kind] = ["id", "from", "kind"].map((name) => values.get(name));
    if (id === undefined || from === undefined || kind === undefined) continue;
    const [summary, inReplyTo, authority, cut] = ["summary", "in-reply-to", "authority", "cut"].map((name) =>
      values.get(name),
    );
    frames.push({
      id,
      from,
      kind,
      ...(summary === undefined ? {} : { summary }),
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
      ...(authority === undefined ? {} : { authority }),
      ...(cut === undefined ? {} : { cut }),
      text: plain(body),
    });
  }
  return frames;
}

const attributeNames = [
  ["id", "id"],
  ["from", "from"],
  ["kind", "kind"],
  ["in-reply-to", "inReplyTo"],
  ["authority", "authority"],
  ["summary", "summary"],
  ["cut", "cut"],
] as const satisfies readonly (readonly [string, keyof Frame])[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"]|\p{Surrogate}/gu, (character) => entities[character] ?? "\ufffd");
}

/** An attribute stays on one line, whatever is in it. */
function escapeAttribute(value: string): string {
  return escapeText(value).replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) => `&#${character.codePointAt(0)};`,
  );
}

function plain(text: string): string {
  return text.replace(/&(?:(amp|lt|gt|quot)|#(\d{1,5}));/g, (_, name: string | undefined, code: string) =>
    name === undefined ? String.fromCodePoint(Number(code)) : (characters[name] ?? ""),
  );
}

const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
