import { StringDecoder } from "node:string_decoder";
import { printable } from "../util/text.js";

/**
 * What a person did: typed text, pasted text, or pressed a key. Key names carry their modifiers, always in this order:
 * `ctrl-alt-shift-left`, `ctrl-a`, `shift-enter`.
 */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "key"; readonly name: string };

/** Bytes of a terminal to keys. Holds back what may go on in the next bytes. */
export interface KeyParser {
  feed(bytes: Uint8Array): Key[];
  /**
   * What is held back: `escape` (an Esc that may begin a sequence) and `paste` (one whose end has not come). The owner
   * calls {@link flush} when nothing followed for a while.
   */
  pending(): "escape" | "paste" | undefined;
  /** Gives up waiting: a lone Esc is that key, an unfinished sequence is dropped, an unfinished paste is a paste. */
  flush(): Key[];
}

export function createKeyParser(): KeyParser {
  const decoder = new StringDecoder("utf8");
  let held = "";
  let pasted: string | undefined;

  const parse = (): Key[] => {
    const keys: Key[] = [];
    while (held !== "") {
      if (pasted !== undefined) {
        const end = held.indexOf(pasteEnd);
        if (end < 0) {
          const keep = partialEnd(held);
          pasted += held.slice(0, held.length - keep);
          held = keep === 0 ? "" : held.slice(-keep);
          break;
        }
        keys.push(pasteOf(pasted + held.slice(0, end)));
        held = held.slice(end + pasteEnd.length);
        pasted = undefined;
        continue;
      }
      const plain = /^[^\u0000-\u001f\u007f-\u009f]+/.exec(held)?.[0];
      if (plain !== undefined) {
        keys.push({ type: "text", text: plain });
        held = held.slice(plain.length);
        continue;
      }
      if (held[0] !== esc) {
        keys.push(...controlKey(held.charAt(0)));
        held = held.slice(1);
        continue;
      }
      const sequence = escapeSequence.exec(held)?.[0];
      if (sequence === undefined) break;
      held = held.slice(sequence.length);
      if (sequence === pasteStart) pasted = "";
      else keys.push(...sequenceKey(sequence));
    }
    return keys;
  };

  return {
    feed(bytes) {
      held += decoder.write(bytes);
      return parse();
    },
    pending() {
      if (pasted !== undefined) return "paste";
      return held === "" ? undefined : "escape";
    },
    flush() {
      const rest = held;
      held = "";
      if (pasted === undefined) return /^\u001b+$/.test(rest) ? Array.from(rest, () => key("escape")) : [];
      const text = pasted + rest;
      pasted = undefined;
      return [pasteOf(text)];
    },
  };
}

const esc = "\u001b";
const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

/**
 * One whole sequence: CSI, SS3, a string (OSC, DCS, APC, PM, SOS) with its end, or Esc with one character. An Esc before
 * another Esc stands alone, unless the second begins a CSI or SS3, which is how some terminals send Alt. A CSI or SS3 that
 * is broken off by another character ends before it.
 */
const escapeSequence = new RegExp(
  [
    String.raw`^\u001b{1,2}\[(?:\[[@-~]|(?!\[)[0-?]*[ -/]*(?:[@-~]|(?=[^ -~])))`,
    String.raw`^\u001b{1,2}O[0-9]*(?:[@-~]|(?=[^0-9@-~]))`,
    String.raw`^\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|(?=\u001b[^\\]))`,
    String.raw`^\u001b(?=\u001b[^[O])`,
    String.raw`^\u001b[^[O\]PX^_\u001b]`,
  ].join("|"),
  "u",
);

const finalNames: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  M: "enter",
  Z: "shift-tab",
};

const tildeNames: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "page-up",
  6: "page-down",
  7: "home",
  8: "end",
};

/** Names of characters that are keys of their own, by code point, in CSI u sequences and as control characters. */
const codeNames: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  10: "enter",
  13: "enter",
  27: "escape",
  127: "backspace",
  57414: "enter",
};

function key(name: string): Key {
  return { type: "key", name };
}

function controlKey(character: string): Key[] {
  const code = character.charCodeAt(0);
  const name = codeNames[code];
  if (name !== undefined) return [key(name)];
  return code >= 1 && code <= 26 ? [key(`ctrl-${String.fromCharCode(code + 96)}`)] : [];
}

/** The key of a whole escape sequence; nothing for one that means no key to us. */
function sequenceKey(sequence: string): Key[] {
  const doubled = sequence.startsWith(esc + esc);
  const body = sequence.slice(doubled ? 2 : 1);
  if (body === "") return [key("escape")];
  if (!/^[[O]/.test(body)) return altKey(body);
  // The Linux console's function keys, `CSI [ A`, look like arrows.
  if (body.startsWith("[[")) return [];
  const final = body.slice(-1);
  const params = body.slice(1, -1).split(";");
  if (final === "u") return codeKey(params[0] ?? "", params[1]);
  if (final === "~" && params[0] === "27") return codeKey(params[2] ?? "", params[1]);
  const names = final === "~" ? tildeNames : finalNames;
  const index = final === "~" ? (params[0] ?? "") : final;
  const name = Object.hasOwn(names, index) ? names[index] : undefined;
  // `CSI M` is a mouse report, `SS3 M` the Enter of the keypad.
  if (name === undefined || (name === "enter" && body.startsWith("["))) return [];
  const modifiers = modifiersOf(params[1]);
  return modifiers === undefined ? [] : [key((doubled ? "alt-" : "") + modifiers + name)];
}

function altKey(body: string): Key[] {
  const code = body.codePointAt(0) ?? 0;
  const name = codeNames[code] ?? (code > 32 && code !== 127 ? body.toLowerCase() : undefined);
  return name === undefined || /^[\]PX^_]./u.test(body) ? [] : [key(`alt-${name}`)];
}

/** A key by its code point: `CSI code[:shifted…] ; modifiers[:event] u`. */
function codeKey(codes: string, modifierField: string | undefined): Key[] {
  const [code = 0, shifted = 0] = codes.split(":").map(Number);
  const modifiers = modifiersOf(modifierField);
  if (modifiers === undefined || !isCodePoint(code)) return [];
  const name = codeNames[code];
  if (name !== undefined) return [key(modifiers + name)];
  // The private use area holds keys without a character (Caps Lock, media keys).
  if (code < 32 || (code >= 0xe000 && code <= 0xf8ff)) return [];
  const character = String.fromCodePoint(code);
  if (modifiers === "") return textKey(character);
  if (modifiers === "shift-")
    return textKey(isCodePoint(shifted) ? String.fromCodePoint(shifted) : character.toUpperCase());
  return [key(modifiers + character.toLowerCase())];
}

function isCodePoint(code: number): boolean {
  return Number.isInteger(code) && code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

function textKey(text: string): Key[] {
  const safe = printable(text);
  return safe === "" ? [] : [{ type: "text", text: safe }];
}

/** `ctrl-alt-shift-` by the bits of a modifier field; undefined for the release of a key. */
function modifiersOf(field: string | undefined): string | undefined {
  const [value = 1, event] = (field ?? "1").split(":").map(Number);
  if (event === 3) return undefined;
  const bits = Math.max(0, (value || 1) - 1);
  return `${bits & 4 ? "ctrl-" : ""}${bits & 2 ? "alt-" : ""}${bits & 1 ? "shift-" : ""}`;
}

function pasteOf(text: string): Key {
  return { type: "paste", text: printable(text) };
}

/** How many characters at the end of `text` may be the beginning of a paste's end. */
function partialEnd(text: string): number {
  for (let length = Math.min(pasteEnd.length - 1, text.length); length > 0; length--)
    if (pasteEnd.startsWith(text.slice(-length))) return length;
  return 0;
}
