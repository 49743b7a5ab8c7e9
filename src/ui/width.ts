/** One character as a person sees it (a grapheme cluster) and the columns it takes. */
export interface Cell {
  readonly text: string;
  readonly width: number;
}

/** `text` by grapheme clusters. It holds no control characters. */
export function cells(text: string): Cell[] {
  segmenter ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => ({
    text: segment,
    width: clusterWidth(segment),
  }));
}

/**
 * Columns that `text` takes. Colour sequences of our own take none; other control characters are not expected. Terminals
 * disagree about emoji by U+FE0F and Indic conjuncts, where this is the larger answer, and about joined emoji, which count
 * as one here.
 */
export function displayWidth(text: string): number {
  const bare = text.replace(sgr, "");
  if (plainAscii.test(bare)) return bare.length;
  return cells(bare).reduce((sum, cell) => sum + cell.width, 0);
}

/** `text` in at most `width` columns; if it was cut, `more` stands at its end and colours are reset. */
export function cut(text: string, width: number, more = "…"): string {
  if (displayWidth(text) <= width) return text;
  const room = Math.max(0, width - displayWidth(more));
  const tail = displayWidth(more) <= width ? more : "";
  let used = 0;
  let kept = "";
  let coloured = false;
  for (const part of text.split(sgrParts)) {
    if (part.startsWith("\u001b")) {
      kept += part;
      coloured = true;
      continue;
    }
    for (const cell of cells(part)) {
      if (used + cell.width > room) return `${kept}${coloured ? "\u001b[0m" : ""}${tail}`;
      kept += cell.text;
      used += cell.width;
    }
  }
  return kept;
}

/** {@link cut}, then filled with spaces to exactly `width` columns. */
export function padded(text: string, width: number, more = "…"): string {
  const short = cut(text, width, more);
  return short + " ".repeat(Math.max(0, width - displayWidth(short)));
}

/**
 * Plain `text` (one line, no colours) as rows of at most `width` columns, broken at spaces and beside wide characters,
 * else anywhere. Text appended later changes no row but the last, so all others can be shown for good. At least one row.
 */
export function wrap(text: string, width: number): string[] {
  if (width === Number.POSITIVE_INFINITY || (text.length <= width && plainAscii.test(text))) return [text];
  const rows: string[] = [];
  let row = "";
  let used = 0;
  let breakAt = 0;
  const close = (at: number): void => {
    rows.push(row.slice(0, at).trimEnd());
    row = row.slice(at).trimStart();
    used = displayWidth(row);
    breakAt = 0;
  };
  for (const cell of cells(text)) {
    if (used + cell.width > width && row !== "") {
      const atWord = cell.text !== " " && cell.width < 2 && row.slice(0, breakAt).trim() !== "";
      close(atWord ? breakAt : row.length);
    }
    if (cell.text === " " && row === "" && rows.length > 0) continue;
    row += cell.text;
    used += cell.width;
    if (cell.text === " " || cell.width > 1) breakAt = row.length;
  }
  rows.push(row);
  return rows;
}

/** Takes away the selectors that make terminals disagree about an emoji's width, for text in columns. */
export function steady(text: string): string {
  return text.replace(/[\ufe0e\ufe0f]/g, "");
}

/** Made when it is needed: that takes as long as all of a view's start. */
let segmenter: Intl.Segmenter | undefined;
const plainAscii = /^[\u0020-\u007e]*$/;
const sgr = /\u001b\[[0-9;]*m/g;
const sgrParts = /(\u001b\[[0-9;]*m)/;
const emoji = /^(?:\p{Emoji_Presentation}|\p{Regional_Indicator}{2}|\p{Emoji}\ufe0f)/u;
/** Nothing to see, but for the soft hyphen and the Arabic and Syriac signs that stand before digits. */
const zeroWidth = /(?![\u00ad\u0600-\u0605\u06dd\u070f])[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;

function clusterWidth(cluster: string): number {
  if (cluster.length === 1 && plainAscii.test(cluster)) return 1;
  if (emoji.test(cluster)) return 2;
  let sum = 0;
  for (const character of cluster) {
    if (zeroWidth.test(character)) continue;
    sum += isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
  }
  return sum;
}

/** East Asian Wide and Fullwidth, by block. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18d08],
  [0x1aff0, 0x1b2fb],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return code >= 0x1100 && wideRanges.some(([first, last]) => code >= first && code <= last);
}
