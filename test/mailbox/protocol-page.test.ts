import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openMailbox, parseMessage } from "../../mailbox/index.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { letter, names, plant, scratchMailbox } from "./support.js";

const page = fs.readFileSync(path.join(import.meta.dirname, "../../docs/mailbox-protocol.md"), "utf8");

/** Writes the program that the page calls `name` to a file. */
function program(name: string): string {
  const source = page.split(new RegExp(`^\`\`\`\\w+ ${name}$`, "m"))[1]?.split(/^```$/m)[0];
  const file = path.join(temporaryDirectory(), name);
  fs.writeFileSync(file, source ?? "");
  return file;
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: "utf8" }).trim();

describe.each([
  ["sh", "send.sh"],
  ["python3", "send.py"],
])("the sender in %s", { timeout: 120_000 }, (interpreter, name) => {
  test("sends any text", async () => {
    const dir = await scratchMailbox();
    const file = program(name);
    const texts = ["", "\\n %s %d", 'quotes " and \\ and $HOME `id`\n\ttwo lines and ünïcödé 😀'];
    const ids = texts.map((text) => run(interpreter, file, dir, "script", "reader", text));
    const { messages, problems } = openMailbox(dir).claim();
    expect(problems).toEqual([]);
    const sent = new Map(messages.map((message) => [message.id, message]));
    for (const [n, id] of ids.entries())
      expect(sent.get(id)).toMatchObject({ from: "script", to: "reader", kind: "text", text: texts[n] });
    expect(names(dir, "tmp")).toEqual([]);
  });

  test("refuses what is no mailbox", async () => {
    const dir = await scratchMailbox();
    const send = () => execFileSync(interpreter, [program(name), dir, "a", "b", "c"], { stdio: "ignore" });
    fs.writeFileSync(path.join(dir, "mailbox.json"), '{"v": 1, "protocol": 12}');
    expect(send).toThrow();
    fs.rmSync(path.join(dir, "mailbox.json"));
    expect(send).toThrow();
    expect(names(dir, "new")).toEqual([]);
  });
});

describe.each([
  ["python3", "read.py", "print(json.dumps(message), flush=True)", "os._exit(9)"],
  ["sh", "read.sh", "  echo\n", "  kill -9 $$; exit 9\n"],
])("the reader in %s", { timeout: 120_000 }, (interpreter, name, printing, dying) => {
  test("takes what is new once, in order, and marks it as seen", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const messages = [letter({ text: 'é\n\t"v": 2' }), letter(), letter({ id: "zzzzzzzz" })];
    for (const message of messages) await box.send(message);
    plant(dir, "done", "zzzzzzzz.json", "{}");
    messages.pop();
    plant(dir, "new", "00000000-newer.json", '{"v":12}');
    fs.mkdirSync(path.join(dir, "new", "00000000-directory.json"));
    fs.symlinkSync(
      path.join(dir, "new", `${messages[0]?.id}.json`),
      path.join(dir, "new", "00000000-link.json"),
    );
    plant(dir, "new", "00000000-bad.json", "{");
    execFileSync("mkfifo", [path.join(dir, "new", "00000000-fifo.json")]);
    const reader = program(name);
    const read = () =>
      execFileSync(interpreter, [reader, dir], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    expect(read()).toEqual(messages);
    expect(read()).toEqual([]);
    expect(box.counts()).toMatchObject({ new: 5, cur: 0, done: 3 });
  });

  test("names its claims as ours are named", async () => {
    const dir = await scratchMailbox();
    await openMailbox(dir).send(letter({ text: "left" }));
    // Killed between the claim and the acknowledgement.
    const reader = fs.readFileSync(program(name), "utf8").replace(printing, () => dying);
    const file = path.join(temporaryDirectory(), "killed");
    fs.writeFileSync(file, reader);
    expect(() => run(interpreter, file, dir)).toThrow();
    expect(names(dir, "cur")[0]).toMatch(/^[0-9a-z-]+~\d+-\d+-[0-9a-f]{32}-pid\d+\.json$/);
    expect(openMailbox(dir).claim().messages).toMatchObject([{ text: "left" }]);
  });
});

test("the page's example is a message", () => {
  const example = page.split("```json\n")[1]?.split("```")[0] ?? "";
  const { id } = JSON.parse(example);
  expect(parseMessage(Buffer.from(example), `${id}.json`)).toMatchObject({ type: "message" });
});
