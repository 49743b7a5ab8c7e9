import fs from "node:fs";

/** What a program wrote of how it was started; undefined while there is none, or a part. */
export function readJson(
  file: string,
): { env: Record<string, string>; argv: string[]; cwd: string } | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** A file's text, empty where it is not there. */
export function readIfThere(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
