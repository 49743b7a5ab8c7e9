/**
 * The key of a name: equal keys are the same name. NFC, upper-cased, then lower-cased per character, NFC; all of it
 * twice, because `ẞ` becomes `ß` the first time and `ss` the second.
 */
export function nameKey(name: string): string {
  return fold(fold(name));
}

function fold(text: string): string {
  const upper = text.normalize("NFC").toUpperCase();
  return Array.from(upper, (character) => character.toLowerCase())
    .join("")
    .normalize("NFC");
}

/** Longest encoded key in bytes: room for suffixes within the 255 bytes that file systems allow. */
export const maxEncodedKeyBytes = 180;

/** A key as a file name: percent-encoded in lower-case hex outside `[a-z0-9_-]`. Never shortened. */
export function encodeKey(key: string): string {
  let encoded = "";
  for (const byte of Buffer.from(key, "utf8")) {
    const character = String.fromCharCode(byte);
    encoded += /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return encoded;
}

/** The directory or file name for `name`. */
export function fileNameOf(name: string): string {
  return encodeKey(nameKey(name));
}
