/** What a terminal shows: lines above the screen, the screen, and the cursor. Enough of a VT100 for shells and line editors. */
export interface Screen {
  /** Takes what the program writes; gives what it asked the terminal to answer. */
  write(text: string): string;
  resize(columns: number, rows: number): void;
  /** All lines, those above the screen first, without trailing blanks. */
  lines(): string[];
  /** How many lines are above the screen. */
  above(): number;
  /** Counted from the screen's corner. */
  cursor(): { readonly x: number; readonly y: number };
  /** The title that the program asked for last. */
  title(): string | undefined;
}

/** The most lines that are kept above the screen. */
const scrollback = 20_000;

export function createScreen(columns: number, rows: number): Screen {
  let grid: string[][] = Array.from({ length: rows }, () => []);
  const history: string[] = [];
  let x = 0;
  let y = 0;
  let saved = { x: 0, y: 0 };
  let pending = "";
  let title: string | undefined;

  const row = (at = y): string[] => {
    const found = grid[at] ?? [];
    grid[at] = found;
    return found;
  };
  const lineOf = (cells: readonly string[]): string =>
    Array.from(cells, (cell) => cell ?? " ")
      .join("")
      .trimEnd();
  const lineFeed = (): void => {
    if (y < rows - 1) {
      y++;
      return;
    }
    history.push(lineOf(grid.shift() ?? []));
    if (history.length > scrollback) history.shift();
    grid.push([]);
  };
  const put = (character: string): void => {
    if (/^\p{M}|\u200d|[\ufe00-\ufe0f]/u.test(character) && x > 0) {
      row()[x - 1] = (row()[x - 1] ?? "") + character;
      return;
    }
    const width = isWide(character) ? 2 : 1;
    if (x + width > columns) {
      x = 0;
      lineFeed();
    }
    row()[x] = character;
    if (width === 2) row()[x + 1] = "";
    x += width;
  };
  const control = (code: string): void => {
    if (code === "\r") x = 0;
    else if (code === "\n" || code === "\v" || code === "\f") lineFeed();
    else if (code === "\b") x = Math.max(0, x - 1);
    else if (code === "\t") x = Math.min(columns - 1, (Math.floor(x / 8) + 1) * 8);
  };
  const erase = (from: { x: number; y: number }, to: { x: number; y: number }): void => {
    for (let at = from.y; at <= to.y; at++) {
      const cells = row(at);
      const first = at === from.y ? from.x : 0;
      const last = at === to.y ? to.x : columns - 1;
      for (let column = first; column <= last && column < cells.length; column++) cells[column] = " ";
    }
  };
  const sequence = (parameters: string, final: string): string => {
    const numbers = parameters
      .replace(/^[?>=]/, "")
      .split(";")
      .map(Number);
    const [first = 0, second = 0] = numbers;
    const count = Math.max(1, first);
    const bottom = { x: columns - 1, y: rows - 1 };
    if (final === "A") y = Math.max(0, y - count);
    else if (final === "B") y = Math.min(rows - 1, y + count);
    else if (final === "C") x = Math.min(columns - 1, x + count);
    else if (final === "D") x = Math.max(0, x - count);
    else if (final === "G") x = Math.min(columns, count) - 1;
    else if (final === "d") y = Math.min(rows, count) - 1;
    else if (final === "H" || final === "f") {
      y = Math.min(rows, count) - 1;
      x = Math.min(columns, Math.max(1, second)) - 1;
    } else if (final === "J") erase(first === 0 ? { x, y } : { x: 0, y: 0 }, first === 1 ? { x, y } : bottom);
    else if (final === "K") erase({ x: first === 0 ? x : 0, y }, { x: first === 1 ? x : columns - 1, y });
    else if (final === "P") row().splice(x, count);
    else if (final === "@") row().splice(x, 0, ...Array.from({ length: count }, () => " "));
    else if (final === "X") erase({ x, y }, { x: Math.min(columns, x + count) - 1, y });
    else if (final === "n" && first === 6) return `\u001b[${y + 1};${x + 1}R`;
    else if (final === "c" && parameters === "") return "\u001b[?62;4c";
    return "";
  };
  const escaped = (code: string): void => {
    if (code === "7") saved = { x, y };
    else if (code === "8") ({ x, y } = saved);
    else if (code === "M") y = Math.max(0, y - 1);
    else if (code === "D") lineFeed();
  };

  return {
    write(text) {
      let answer = "";
      let rest = pending + text;
      pending = "";
      while (rest !== "") {
        const found = tokens.exec(rest);
        if (found === null) {
          // A sequence that is not whole yet.
          pending = rest;
          break;
        }
        const [token, parameters, final, command, code] = found;
        rest = rest.slice(token.length);
        if (final !== undefined) answer += sequence(parameters ?? "", final);
        else if (command !== undefined) title = /^[02];(.*)$/s.exec(command)?.[1] ?? title;
        else if (code !== undefined) escaped(code);
        else if (/^[\u0000-\u001f\u007f]/.test(token)) control(token);
        else put(token);
      }
      return answer;
    },
    resize(newColumns, newRows) {
      columns = newColumns;
      while (grid.length > newRows && grid.length > y + 1) grid.pop();
      while (grid.length > newRows) {
        history.push(lineOf(grid.shift() ?? []));
        y--;
      }
      while (grid.length < newRows) grid.push([]);
      grid = grid.map((cells) => cells.slice(0, newColumns));
      rows = newRows;
      x = Math.min(x, columns - 1);
      y = Math.min(y, rows - 1);
    },
    lines: () => [...history, ...grid.map(lineOf)],
    above: () => history.length,
    cursor: () => ({ x, y }),
    title: () => title,
  };
}

/** A control sequence (parameters, final), a command of the system (its text), another escape (its code), or one character. */
const tokens =
  /^(?:\u001b\[([0-?]*)[ -/]*([@-~])|\u001b\]([^\u0007\u001b]*)(?:\u0007|\u001b\\)|\u001b[()*+]?([0-~])(?<!\u001b[[\]])|[\u0000-\u001a\u001c-\u001f\u007f]|[^\u001b])/u;

function isWide(character: string): boolean {
  return /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u.test(
    character,
  );
}
