/** C0 but for TAB and LF, DEL, C1, and the invisible characters that reorder text or end lines in some terminals. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Hostile text made safe for a terminal: no escape sequence survives. CRLF becomes LF; LF and TAB stay. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(controls, "");
}

/** As {@link printable}, on one line of at most `width` characters, the rest replaced by `…`. */
export function oneLine(text: string, width = 200): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join("")}…`;
}
