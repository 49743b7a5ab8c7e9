import { TroupeError } from "../src/util/errors.js";
import { printable } from "../src/util/text.js";

/** The most that is typed at once, in bytes of UTF-8. */
const maxTypedBytes = 4 * 1024 * 1024;

/** What a terminal shows, as far as text is to be recognised in it. */
export interface View {
  /** The end of what it shows, a few screens at most. */
  readonly text: string;
  /** The part of `text` down to the cursor's line, that line included. */
  readonly toCursor: string;
  /** Differs whenever the cursor has moved. */
  readonly cursor: string;
}

/**
 * Text as it may be typed: control characters taken out but for line feeds and tabs, so that none of it can act as a key
 * or end a bracketed paste, and without line ends behind it, since Enter follows. Throws TroupeError `text-too-long` and
 * `nothing-to-type` (nothing that could be recognised on a terminal).
 */
export function typable(text: string): string {
  const clean = printable(text).replace(/\n+$/, "");
  const bytes = Buffer.byteLength(clean);
  if (bytes > maxTypedBytes)
    throw new TroupeError("text-too-long", `${bytes} bytes are too many to type: at most ${maxTypedBytes}`, {
      kind: "usage",
    });
  if (significant(clean) === "")
    throw new TroupeError("nothing-to-type", "the text holds nothing that shows on a terminal", {
      kind: "usage",
    });
  return clean;
}

/** Recognises one text in a terminal that looked like `before` when the text was not typed yet. */
export interface Recogniser {
  /** Whether the end of the text shows since, or a mark that programs put in the place of a long paste. */
  shows(view: View): boolean;
  /** Whether two views differ in where, or how often, they show it. */
  differs(one: View, other: View): boolean;
}

/** `text` is {@link typable}. */
export function createRecogniser(text: string, before: View): Recogniser {
  const end = text.slice(-4 * tailLength);
  const tail = significant(end).slice(-tailLength);
  const lastLine = significant(end.slice(end.lastIndexOf("\n") + 1)).slice(-tailLength);
  const look = ({ text: shown, toCursor }: View) => {
    const all = significant(shown);
    return {
      tails: tail === "" ? 0 : all.split(tail).length - 1,
      marks: all.match(pasteMark)?.length ?? 0,
      atCursor: lastLine !== "" && significant(toCursor).endsWith(lastLine),
    };
  };
  const first = look(before);
  return {
    shows(view) {
      const now = look(view);
      return now.tails > first.tails || now.marks > first.marks || (now.atCursor && !first.atCursor);
    },
    differs(one, other) {
      const [a, b] = [look(one), look(other)];
      return a.tails !== b.tails || a.marks !== b.marks;
    },
  };
}

/** How many characters of the end are looked for. */
const tailLength = 48;

/** `[Pasted text #1 +60 lines]`, `[Pasted Content 2000 chars]`, `[Paste: 60 lines]`, blanks taken out. */
const pasteMark = /\[past(?:ed|e)[^\]]{0,60}\]/gi;

/**
 * What of a text looks the same wherever and however it is shown: no blanks and line ends, for programs wrap; no marks and
 * joiners, for terminals drop or compose them; no lines and blocks, for programs draw boxes around what is typed.
 */
function significant(text: string): string {
  return text.normalize("NFD").replace(/[\s\p{M}\p{C}\u2500-\u259f|]|\p{Emoji_Modifier}/gu, "");
}
