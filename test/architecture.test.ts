import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");

/** Which rooms a room may import values from; types may come from anywhere. */
const layers: Record<string, readonly string[]> = {
  "src/util": [],
  mailbox: ["src/util"],
  backends: ["src/util"],
  "src/agent": ["src/util"],
  "src/team": ["src/util", "mailbox", "backends", "src/agent"],
  "src/ui": ["src/util", "src/team"],
  "src/cli": ["src/util", "mailbox", "backends", "src/agent", "src/team", "src/ui"],
  "src/bin.ts": ["src/util", "mailbox", "backends", "src/agent", "src/team", "src/ui", "src/cli"],
  "src/index.ts": ["src/util", "mailbox", "backends", "src/agent", "src/team", "src/ui"],
};

/** What may be in the command's own file, which every call loads: little, because loading is most of what it costs. */
const librariesOfTheCommand = ["canonicalize", "uuid"];

interface Import {
  readonly from: string;
  readonly lazy: boolean;
}

interface Source {
  readonly file: string;
  readonly room: string | undefined;
  readonly code: string;
  readonly imports: readonly Import[];
}

const sources: readonly Source[] = ["src", "mailbox", "backends"]
  .flatMap((directory) => walk(directory))
  .filter((file) => file.endsWith(".ts") || file.endsWith(".tsx"))
  .map(readSource);

describe("rooms", () => {
  it("are the known ones", () => {
    expect(sources.filter(({ room }) => room === undefined).map(({ file }) => file)).toEqual([]);
    expect(sources.length).toBeGreaterThan(20);
  });

  it("import values only from the rooms below them", () => {
    const wrong = sources.flatMap(({ file, room, imports }) =>
      imports
        .filter(({ from }) => from.startsWith("."))
        .map(({ from }) => resolve(file, from))
        .filter((target) => {
          const other = roomOf(target);
          return other === undefined || (other !== room && !layers[room ?? ""]?.includes(other));
        })
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the command", () => {
  it("loads at once nothing but Node's modules, our own light files and a few small libraries", () => {
    const libraries = new Set<string>();
    const seen = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { from, lazy } of sources.find((source) => source.file === file)?.imports ?? []) {
        if (lazy || from.startsWith("node:")) continue;
        if (from.startsWith(".")) visit(resolve(file, from));
        else libraries.add(from);
      }
    };
    visit("src/bin.ts");
    expect([...libraries].filter((name) => !librariesOfTheCommand.includes(name))).toEqual([]);
    expect([...seen].filter((file) => roomOf(file) === "src/ui")).toEqual([]);
  });
});

describe("in the sources", () => {
  it.each([
    ["only src/bin.ts exits", /\bprocess\.(exit\(|abort\(|reallyExit)/, ["src/bin.ts"]],
    ["only src/cli reads the current directory", /\bprocess\.cwd\(/, ["src/bin.ts", "src/cli/"]],
    ["nothing changes the current directory", /\bprocess\.chdir\(/, []],
    ["nothing writes to a console", /\bconsole\./, []],
    ["only src/cli and src/ui write to stdout", /\bprocess\.stdout\b/, ["src/bin.ts", "src/cli/", "src/ui/"]],
    ["nothing is a default export", /\bexport default\b|\bexport \{[^}]*\bas default\b/, []],
    ["nothing is an enum", /^\s*(export )?(const )?enum\b/m, []],
    ["nothing loads by require", /\brequire\(/, []],
  ])("%s", (_, pattern, allowed) => {
    const wrong = sources.filter(
      ({ file, code }) => pattern.test(code) && !allowed.some((place) => file.startsWith(place)),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });
});

describe("the tree", () => {
  const files = walk(".");

  it("has no file of more than 400 lines", () => {
    const long = files
      .filter((file) => /\.(ts|tsx|mjs)$/.test(file))
      .map((file) => ({ file, lines: read(file).split("\n").length - 1 }))
      .filter(({ lines }) => lines > 400);
    expect(long).toEqual([]);
  });

  it("names no place outside of itself", () => {
    // Written apart, so that this file does not name them.
    const outside = [
      "../sh" + "ared",
      "/wo" + "rk/",
      "/tmp/br" + "ief",
      '"reso' + 'lved": "http',
      "registry.np" + "mjs",
    ];
    const wrong = files.flatMap((file) => {
      const text = read(file);
      return outside.filter((name) => text.includes(name)).map((name) => `${file}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it("has tests that use the real parts and all of which run", () => {
    const pattern = /\bvi\.(do)?mock\(|\b(it|test|describe)\.(only|skip|todo)\(/i;
    const wrong = files.filter(
      (file) => file.startsWith("test/") && file.endsWith(".ts") && pattern.test(withoutComments(read(file))),
    );
    expect(wrong).toEqual([]);
  });
});

function walk(directory: string): string[] {
  return fs
    .readdirSync(path.join(root, directory), { withFileTypes: true })
    .filter(({ name }) => !/^(node_modules|dist|dist\..*|\.git|\.bench|.*\.tgz)$/.test(name))
    .flatMap((entry) => {
      const file = path.posix.join(directory, entry.name);
      return entry.isDirectory() ? walk(file) : entry.isFile() ? [file] : [];
    });
}

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), "utf8");
}

function readSource(file: string): Source {
  const code = withoutComments(read(file));
  return { file, room: roomOf(file), code, imports: importsOf(code) };
}

function roomOf(file: string): string | undefined {
  return Object.keys(layers).find((room) => file === room || file.startsWith(`${room}/`));
}

/** The source file, relative to the root, that `specifier` in `file` means. */
function resolve(file: string, specifier: string): string {
  const target = path.posix.join(path.posix.dirname(file), specifier).replace(/\.js$/, ".ts");
  return fs.existsSync(path.join(root, target)) ? target : target.replace(/\.ts$/, ".tsx");
}

function importsOf(code: string): Import[] {
  const statements = /^\s*(?:import|export)\s+(?!type\b)(?:[\w*\s{},$]+?\s+from\s+)?["']([^"']+)["']/gm;
  const calls = /\bimport\(\s*["'`]([^"'`]+)["'`]/g;
  return [
    ...Array.from(code.matchAll(statements), ([, from = ""]) => ({ from, lazy: false })),
    ...Array.from(code.matchAll(calls), ([, from = ""]) => ({ from, lazy: true })),
  ];
}

/** The text without its comments; strings stay. Good enough for sources that a formatter has laid out. */
function withoutComments(text: string): string {
  const parts = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replace(parts, (part) => (part.startsWith("/") ? " " : part));
}
