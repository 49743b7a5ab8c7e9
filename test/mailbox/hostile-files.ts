import fs from "node:fs";
import fc from "fast-check";
import { maxDepth, maxFileBytes, maxNameBytes, maxTextBytes } from "../../mailbox/message.js";
import { letter } from "./support.js";

/** What becomes of a file in `new/`: mail, put aside, left for a newer reader, or not looked at. */
export type Fate = "good" | "bad" | "newer" | "ignored";

/** What a hostile file can be besides bytes. */
export const oddThings = [
  "dangling link",
  "link out",
  "link to a device",
  "link to itself",
  "link to mail",
  "fifo",
  "socket",
  "empty directory",
  "full directory",
] as const;

export type Content =
  | { readonly bytes: Buffer; readonly fate: Fate }
  | { readonly thing: (typeof oddThings)[number]; readonly fate: "bad" };

export interface HostileFile {
  readonly id: string;
  readonly name: Buffer;
  readonly content: Content;
  readonly fate: Fate;
}

/** `count` files of every sort that anybody might put into a mailbox, among them some that are mail; the same for a seed. */
export function hostileFiles(count: number, seed: number): HostileFile[] {
  return fc.sample(fc.tuple(contents, names), { numRuns: count, seed }).map(([makeContent, makeName], n) => {
    const id = `${String(n).padStart(8, "0")}-hostile`;
    const content = makeContent(id);
    const { name, fate = content.fate } = makeName(id);
    return { id, name, content, fate };
  });
}

type MakeContent = (id: string) => Content;
type MakeName = (id: string) => { readonly name: Buffer; readonly fate?: Fate };

/** JSON text of a good message with `id`, and what is inserted before its last brace. */
const good = (id: string, rest = "") => `${JSON.stringify(letter({ id })).slice(0, -1)}${rest}}`;
const withFields = (id: string, changed: object) => JSON.stringify({ ...letter({ id }), ...changed });

const json = (text: string | Buffer, fate: Fate): Content => ({ bytes: Buffer.from(text), fate });

const anyBytes = fc.uint8Array({ maxLength: 200 }).map(
  (bytes): MakeContent =>
    () =>
      json(Buffer.from(bytes), "bad"),
);

const truncated = fc.nat().map(
  (at): MakeContent =>
    (id) => {
      const text = Buffer.from(good(id, ',"deep":[{"é":"\\u00e9"}]'));
      return json(text.subarray(0, at % text.length), "bad");
    },
);

const nested = fc.integer({ min: maxDepth - 4, max: maxDepth + 4 }).map(
  (depth): MakeContent =>
    (id) => {
      // The message itself is the first level.
      const inner = "[".repeat(depth - 1) + "]".repeat(depth - 1);
      return json(good(id, `,"deep":${inner}`), depth <= maxDepth ? "good" : "bad");
    },
);

const longText = fc.constantFrom(-1, 0, 1).map(
  (more): MakeContent =>
    (id) => {
      const text = "é".repeat((maxTextBytes - 2) / 2) + "x".repeat(2 + more);
      return json(withFields(id, { text }), more <= 0 ? "good" : "bad");
    },
);

const longFile = fc.constantFrom(-1, 0, 1).map(
  (more): MakeContent =>
    (id) => {
      const bytes = Buffer.alloc(maxFileBytes + more, " ");
      bytes.write(good(id));
      return { bytes, fate: more <= 0 ? "good" : "bad" };
    },
);

const longName = fc.tuple(fc.constantFrom("from", "to", "kind"), fc.constantFrom(-1, 0, 1)).map(
  ([field, more]): MakeContent =>
    (id) => {
      const name = `é${"x".repeat(maxNameBytes - 2 + more)}`;
      return json(withFields(id, { [field]: name }), more <= 0 ? "good" : "bad");
    },
);

const wrongValues: Readonly<Record<string, readonly unknown[]>> = {
  id: [undefined, null, 12345678, "", "short", "UPPERCASE-ID", "another-id", "../../../etc/x", ["x"]],
  from: [undefined, null, 5, "", {}, "a\u0000b", "a\nb", "\u009b31m"],
  to: [undefined, null, true, "", ["reader"], "\u007f"],
  kind: [undefined, null, 1, "", ["text"], "\ttext"],
  sentAt: [undefined, null, 0, "", "yesterday", "2026-11-30", "2026-13-01T00:00:00Z", "2026-11-30T25:00:00Z"],
  text: [undefined, null, 5, ["hello"], { toString: "x" }],
  summary: [null, 5, {}],
  inReplyTo: [null, 5, "", "../x", []],
  seal: [null, 5, {}],
};

const wrongType = fc
  .constantFrom(
    ...Object.entries(wrongValues).flatMap(([field, values]) =>
      values.map((value) => [field, value] as const),
    ),
  )
  .map(
    ([field, value]): MakeContent =>
      (id) =>
        json(withFields(id, { [field]: value }), "bad"),
  );

const wrongVersion = fc
  .constantFrom(
    ...(["0", "-1", "1.5", '"1"', "null", "1e400", "true", "[1]"] as const).map((v) => [v, "bad"] as const),
    ...(["2", "99", "2.0", "1e3"] as const).map((v) => [v, "newer"] as const),
    ...(["1.0", "10e-1"] as const).map((v) => [v, "good"] as const),
  )
  .map(
    ([v, fate]): MakeContent =>
      (id) =>
        json(good(id).replace('"v":1', `"v":${v}`), fate),
  );

const twice = fc
  .constantFrom(
    [',"text":5', "bad"] as const,
    [',"text":"again"', "good"] as const,
    [',"v":2', "newer"] as const,
    [',"id":"00000000-other"', "bad"] as const,
    [',"__proto__":{"from":5},"constructor":{"prototype":null}', "good"] as const,
    [',"from":"\\ud800","to":"\\udc00\\ud83d"', "good"] as const,
  )
  .map(
    ([rest, fate]): MakeContent =>
      (id) =>
        json(good(id, rest), fate),
  );

const inherited: MakeContent = (id) => {
  const { from: _, ...rest } = letter({ id });
  return json(`${JSON.stringify(rest).slice(0, -1)},"__proto__":{"from":"me"}}`, "bad");
};

const encodings = fc.constantFrom<MakeContent>(
  (id) => json(`\ufeff${good(id)}`, "bad"),
  (id) => json(Buffer.from(good(id), "utf16le"), "bad"),
  (id) => json(Buffer.from(`\ufeff${good(id)}`, "utf16le"), "bad"),
  (id) => json(Buffer.from(good(id, ',"x":"\u00ff"'), "latin1"), "bad"),
  (id) =>
    json(
      Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(good(id))]),
      "bad",
    ),
  (id) => json(`${good(id)}\u0000`, "bad"),
  (id) => json(good(id) + good(id), "bad"),
  (id) => json(`[${good(id)}]`, "bad"),
  () => json("", "bad"),
  () => json("null", "bad"),
  () => json("[".repeat(100_000), "bad"),
  inherited,
);

const thing = fc.constantFrom(...oddThings).map(
  (odd): MakeContent =>
    () => ({ thing: odd, fate: "bad" }),
);

const contents = fc.oneof(
  { weight: 60, arbitrary: anyBytes },
  { weight: 120, arbitrary: truncated },
  { weight: 60, arbitrary: nested },
  { weight: 2, arbitrary: longText },
  { weight: 1, arbitrary: longFile },
  { weight: 40, arbitrary: longName },
  { weight: 240, arbitrary: wrongType },
  { weight: 100, arbitrary: wrongVersion },
  { weight: 60, arbitrary: twice },
  { weight: 100, arbitrary: encodings },
  { weight: 200, arbitrary: thing },
);

const stray =
  (name: (id: string) => string | Buffer): MakeName =>
  (id) => ({ name: Buffer.from(name(id) as string), fate: "bad" });

const names = fc.oneof(
  { weight: 20, arbitrary: fc.constant<MakeName>((id) => ({ name: Buffer.from(`${id}.json`) })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<MakeName>(
      stray((id) => id),
      stray((id) => `${id}.JSON`),
      stray((id) => `${id}.json.reason`),
      stray((id) => `${id}..json`),
      stray((id) => `${id}~1-1.json`),
      stray((id) => `${id}~${process.pid}-1-2-3.json`),
      stray((id) => `~${id}`),
      stray((id) => `${id} .json`),
      stray((id) => `${id}\n.json`),
      stray((id) => `\u001b[31m${id}\u202e.json`),
      stray((id) => Buffer.concat([Buffer.from(id), Buffer.from([0xff, 0xfe, 0x80])])),
      stray((id) => id.padEnd(255, "x")),
      stray((id) => `${id}${"é".repeat(100)}.json`),
      stray((id) => `-rf ${id}`),
      stray((id) => `$(${id})`),
      (id) => ({ name: Buffer.from(`.${id}.json`), fate: "ignored" }),
      (id) => ({ name: Buffer.from(`..${id}`), fate: "ignored" }),
    ),
  },
);

/** Where hostile files point to and are linked from; all of it lies outside the mailbox. */
export interface Surroundings {
  readonly outside: string;
  readonly mail: string;
  readonly fifo: string;
  readonly socket: string;
}

/** Puts `content` to where `file` says. */
export function plantHostile(
  file: Buffer,
  content: Content,
  { outside, mail, fifo, socket }: Surroundings,
): void {
  if ("bytes" in content) {
    fs.writeFileSync(file, content.bytes);
    return;
  }
  const make: Readonly<Record<(typeof oddThings)[number], () => void>> = {
    "dangling link": () => fs.symlinkSync("/nowhere/at/all", file),
    "link out": () => fs.symlinkSync(outside, file),
    "link to a device": () => fs.symlinkSync("/dev/zero", file),
    "link to itself": () => fs.symlinkSync(file, file),
    "link to mail": () => fs.symlinkSync(mail, file),
    fifo: () => fs.linkSync(fifo, file),
    socket: () => fs.linkSync(socket, file),
    "empty directory": () => fs.mkdirSync(file),
    "full directory": () => {
      fs.mkdirSync(file);
      fs.writeFileSync(Buffer.concat([file, Buffer.from("/inside.json")]), "{}");
    },
  };
  make[content.thing]();
}
