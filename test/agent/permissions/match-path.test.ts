import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesPath } from "../../../src/agent/permissions/match-path.js";

const context = { cwd: "/home/u/p", home: "/home/u", ignoreCase: false };
const matches = (pattern: string, target: string) => matchesPath(pattern, target, context);

describe("matchesPath", () => {
  it("takes patterns from the working directory, the root or the home directory", () => {
    expect(matches("src/**", "/home/u/p/src/a/b.ts")).toBe(true);
    expect(matches("./src/*.ts", "/home/u/p/src/a.ts")).toBe(true);
    expect(matches("src/*.ts", "/home/u/p/src/a/b.ts")).toBe(false);
    expect(matches("src/**", "/home/u/p/lib/src/a")).toBe(false);
    expect(matches("/etc/**", "/etc/passwd")).toBe(true);
    expect(matches("~/.ssh/**", "/home/u/.ssh/id")).toBe(true);
    expect(matches("../q/**", "/home/u/q/a")).toBe(true);
    expect(matches("**", "/home/u/q/a")).toBe(false);
  });

  it("takes one without a slash at any depth", () => {
    expect(matches(".env", "/home/u/p/a/b/.env")).toBe(true);
    expect(matches("*.pem", "/home/u/p/x.pem")).toBe(true);
    expect(matches(".env", "/home/u/other/.env")).toBe(false);
  });

  it("means everything in a directory that it names", () => {
    expect(matches("secrets", "/home/u/p/secrets/a/b")).toBe(true);
    expect(matches("a/secrets/", "/home/u/p/a/secrets/b")).toBe(true);
    expect(matches("/etc", "/etc/a/b")).toBe(true);
  });

  it("takes the working directory literally, whatever it is called", () => {
    const odd = { cwd: "/w/[a]*{b}", ignoreCase: false };
    expect(matchesPath("src/**", "/w/[a]*{b}/src/x", odd)).toBe(true);
    expect(matchesPath("src/**", "/w/axb/src/x", odd)).toBe(false);
  });

  it("ignores case only where told", () => {
    expect(matches("Secrets/**", "/home/u/p/secrets/a")).toBe(false);
    expect(matchesPath("Secrets/**", "/home/u/p/secrets/a", { ...context, ignoreCase: true })).toBe(true);
  });

  it("keeps a negated pattern inside of the working directory, too", () => {
    expect(matches("!src/**", "/home/u/p/lib/a")).toBe(true);
    expect(matches("!src/**", "/home/u/q/a")).toBe(false);
    expect(matches("!src/**", "/etc/passwd")).toBe(false);
  });

  it("never means anything outside of the working directory by a relative pattern", () => {
    const segment = fc.constantFrom("a", "b", "*", "**", ".x", "{a,b}");
    const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    const target = fc.array(fc.constantFrom("a", "b", ".x"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pattern, target, (glob, parts) => {
        expect(matches(glob, `/elsewhere/${parts.join("/")}`)).toBe(false);
      }),
    );
  });
});
