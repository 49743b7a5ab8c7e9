import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { displayWidth, steady } from "../../src/ui/width.js";
import { waitUntil } from "../../src/util/wait.js";
import { startTmux } from "../helpers/tmux.js";

const samples = [
  "abc",
  "漢字",
  "한글",
  "ﾊﾝ",
  "Ａｂ",
  "e\u0301o\u0308",
  "😀🚀",
  "☁️",
  "1️⃣",
  "❤️x",
  "ñ",
  "「」",
  "→●…",
  "привет",
  "b🏽",
  "👩‍👩‍👧",
  "🇩🇪",
  "\u00adx",
  "䷀",
];

it("agrees with a real terminal about what stands in columns", async () => {
  const server = startTmux();
  const { dir, run: tmux } = server;
  try {
    for (const [index, sample] of samples.entries())
      fs.writeFileSync(path.join(dir, `sample${index + 10}`), steady(sample));
    // Each sample stands on a row of its own, so that a look at the cursor tells which one it has come to.
    const script = `for f in "$0"/sample*; do cat "$f"; tmux -S "$0/s" wait-for next; echo; done`;
    tmux("new-session", "-d", "-s", "width", "-x", "80", "-y", "24", "--", "sh", "-c", script, dir);
    const measured: (readonly [string, number])[] = [];
    for (const [index, sample] of samples.entries()) {
      const column = await waitUntil(
        "the sample is on the screen",
        () => {
          const [x, y] = tmux("display-message", "-p", "-t", "width:", "#{cursor_x} #{cursor_y}").split(" ");
          return Number(y) === index && Number(x) > 0 && Number(x);
        },
        { timeoutMs: 5_000 },
      );
      measured.push([sample, column]);
      if (index < samples.length - 1) tmux("wait-for", "-S", "next");
    }
    expect(measured).toEqual(samples.map((sample) => [sample, displayWidth(steady(sample))]));
  } finally {
    server.stop();
  }
});
