/** Programs that read their terminal, each in a way of its own; what they take goes to `file`, one line each time. */
export const typedPrograms = {
  /** Raw, asks for bracketed pastes, shows a long one folded; hex. Blocked for `busyMs`, deaf to the first `deaf` Enters. */
  box: (file: string, { busyMs = 0, deaf = 0 } = {}) => [
    process.execPath,
    "-e",
    box,
    file,
    String(busyMs),
    String(deaf),
  ],
  /** As `box`, and its screen never rests. */
  restless: (file: string) => [process.execPath, "-e", box, file, "0", "0", "restless"],
  cat: (file: string) => ["/bin/sh", "-c", 'exec cat >>"$1"', "cat", file],
  lines: (file: string) => [
    "/bin/bash",
    "-c",
    'while IFS= read -r line; do printf "%s\\n" "$line" >>"$1"; done',
    "lines",
    file,
  ],
  /** Shows nothing of what is typed. */
  secret: (file: string) => [
    "/bin/bash",
    "-c",
    'read -rs x; printf "%s\\n" "$x" >>"$1"; sleep 300',
    "s",
    file,
  ],
  shell: ["/bin/bash", "--norc", "--noprofile", "-i"],
  python: ["python3", "-q", "-i"],
} as const;

const box = `
const fs = process.getBuiltinModule("node:fs");
const { stdin, stdout } = process;
const [file, busyMs, deaf, restless] = process.argv.slice(1);
stdin.setRawMode(true);
const show = (text) => stdout.write(text.replaceAll("\\n", "\\r\\n"));
show("\\x1b[?2004hready\\n> ");
let got = Buffer.alloc(0);
let draft = Buffer.alloc(0);
let ignored = 0;
let pastes = 0;
const take = (bytes, isPaste) => {
  draft = Buffer.concat([draft, bytes]);
  const text = bytes.toString();
  const lines = text.split("\\n").length;
  show(isPaste && (lines > 3 || text.length > 1000) ? "[Pasted text #" + ++pastes + " +" + lines + " lines]" : text);
};
stdin.on("data", (chunk) => {
  got = Buffer.concat([got, chunk]);
  while (got.length > 0) {
    if (got.indexOf("\\x1b[200~") === 0) {
      const end = got.indexOf("\\x1b[201~");
      if (end < 0) return;
      take(got.subarray(6, end), true);
      got = got.subarray(end + 6);
    } else if (got[0] === 13) {
      got = got.subarray(1);
      if (ignored++ < Number(deaf)) continue;
      fs.appendFileSync(file, draft.toString("hex") + "\\n");
      show("\\ntaken " + draft.length + "\\n> ");
      draft = Buffer.alloc(0);
    } else {
      take(got.subarray(0, 1), false);
      got = got.subarray(1);
    }
  }
});
if (restless) setInterval(() => show("\\x1b7\\x1b[1;40H" + Date.now() + "\\x1b8"), 20);
const until = Date.now() + Number(busyMs);
while (Date.now() < until);
`;
