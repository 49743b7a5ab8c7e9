import { TroupeError } from "../util/errors.js";
import { encodeKey, maxEncodedKeyBytes, nameKey } from "../util/name-key.js";

/** Names with a meaning of their own; no teammate may have one. */
export const reservedNames = ["lead", "user", "host"] as const;

/**
 * Checks the name of a teammate or team and gives its key. A refused name is a TroupeError `bad-name` (kind `usage`)
 * with the reason and, as remedy, a name that would work.
 */
export function checkName(name: string, what = "teammate"): string {
  const reason = refusal(name);
  if (reason === undefined) return nameKey(name);
  throw new TroupeError("bad-name", `${what} name ${JSON.stringify(name)}: ${reason}`, {
    kind: "usage",
    remedy: `a name that works: ${suggestion(name)}`,
  });
}

function refusal(name: string): string | undefined {
  if (name === "") return "it is empty";
  if (name === "*") return "* means everybody";
  if (name.startsWith("-")) return "it starts with -, which would read as an option";
  const odd = Array.from(name).find((character) => !/[\p{L}\p{M}\p{Nd}_-]/u.test(character));
  if (odd !== undefined) return `${JSON.stringify(odd)} is neither a letter, a digit, - nor _`;
  const compatible = Array.from(name).find(
    (character) => character.normalize("NFKC") !== character.normalize("NFC"),
  );
  if (compatible !== undefined)
    return `${JSON.stringify(compatible)} is another form of ${JSON.stringify(compatible.normalize("NFKC"))}`;
  if (!/[\p{L}\p{Nd}]/u.test(name)) return "it has no letter or digit";
  const scripts = scriptsOf(name);
  if (scripts.length > 1) return `it mixes scripts (${scripts.join(", ")}), which makes look-alikes`;
  const key = nameKey(name);
  if ((reservedNames as readonly string[]).includes(key)) return "it is reserved";
  if (encodeKey(key).length > maxEncodedKeyBytes) return "it is too long";
  return undefined;
}

/** Scripts whose letters look alike or are in common use in names; Han, Hiragana, Katakana and Hangul are written together. */
const scriptTests = {
  Latin: /\p{Script=Latin}/u,
  Greek: /\p{Script=Greek}/u,
  Cyrillic: /\p{Script=Cyrillic}/u,
  Armenian: /\p{Script=Armenian}/u,
  Hebrew: /\p{Script=Hebrew}/u,
  Arabic: /\p{Script=Arabic}/u,
  Devanagari: /\p{Script=Devanagari}/u,
  Thai: /\p{Script=Thai}/u,
  "East Asian": /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}]/u,
} as const;

function scriptsOf(name: string): string[] {
  const known = Object.entries(scriptTests).filter(([, test]) => test.test(name));
  const rest = Array.from(name).some(
    (character) =>
      /\p{L}/u.test(character) && !Object.values(scriptTests).some((test) => test.test(character)),
  );
  const names = known.map(([script]) => script);
  return rest && names.length > 0 ? [...names, "another"] : names;
}

function suggestion(name: string): string {
  const ascii = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  if (ascii === "") return "teammate-1";
  return refusal(ascii) === undefined ? ascii : `${ascii}-1`;
}
