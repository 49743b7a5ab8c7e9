import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectContext } from "../../src/agent/project-context.js";
import { createWorkspace, type Workspace } from "./tools/workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
    cwd: space.cwd,
    stdio: "ignore",
  });
const context = (cwd = space.cwd, home?: string) =>
  projectContext({ cwd, env: { ...space.context.env }, ...(home === undefined ? {} : { home }) });

describe("projectContext", () => {
  it("has nothing to tell of an empty directory", async () => {
    expect(await context()).toBeUndefined();
  });

  it("shows branch, status and five commits", async () => {
    git("init", "-q", "-b", "topic");
    for (let n = 1; n <= 6; n += 1) git("commit", "-q", "--allow-empty", "-m", `commit ${n}`);
    space.write("new file", "");
    const text = (await context()) ?? "";
    expect(text).toMatch(
      /^# Git, when this conversation began\nBranch: topic\nStatus:\n\?\? "new file"\nLatest commits:\n/,
    );
    expect(text.match(/commit \d/g)).toEqual(["commit 6", "commit 5", "commit 4", "commit 3", "commit 2"]);
  });

  it("manages without a commit and without a branch", async () => {
    git("init", "-q", "-b", "main");
    expect(await context()).toBe(
      "# Git, when this conversation began\nBranch: main\nStatus:\n(clean)\nLatest commits:\n(none)",
    );
    git("commit", "-q", "--allow-empty", "-m", "one");
    git("checkout", "-q", "--detach");
    expect(await context()).toContain("Branch: (none: detached)");
  });

  it("bounds a huge status and says so", async () => {
    git("init", "-q");
    for (let n = 0; n < 3000; n += 1) fs.writeFileSync(space.at(`file-with-a-long-name-${n}`), "");
    const text = (await context()) ?? "";
    expect(text.length).toBeLessThan(40_200);
    expect(text).toMatch(/\[… cut here: \d+ more characters\]$/);
  });

  it("reads instructions from the person and from the repository's root down", async () => {
    git("init", "-q");
    space.write("AGENTS.md", "root agents\n");
    space.write("CLAUDE.md", "root claude\n");
    space.write("a/b/CLAUDE.md", "deep\n");
    space.write("a/c/CLAUDE.md", "elsewhere\n");
    const home = path.join(space.base, "home");
    fs.mkdirSync(path.join(home, ".claude"), { recursive: true });
    fs.writeFileSync(path.join(home, ".claude/CLAUDE.md"), "mine\n");
    const text = (await context(space.at("a/b"), home)) ?? "";
    const found = ["mine", "root claude", "root agents", "deep"].map((part) => text.indexOf(part));
    expect(found.every((at, index) => at > (found[index - 1] ?? -1))).toBe(true);
    expect(text).toContain(`## ${space.at("a/b/CLAUDE.md")}\ndeep`);
    expect(text).not.toContain("elsewhere");
  });

  it("reads only the working directory's outside of a repository", async () => {
    fs.writeFileSync(path.join(space.base, "CLAUDE.md"), "above\n");
    space.write("CLAUDE.md", "here\n");
    const text = (await context()) ?? "";
    expect(text).toContain("here");
    expect(text).not.toContain("above");
    expect(text).not.toContain("# Git");
  });

  it("reads one file under two names once, and nothing that leads out or does not end", async () => {
    space.write("CLAUDE.md", "shared\n");
    fs.symlinkSync("CLAUDE.md", space.at("AGENTS.md"));
    expect((await context())?.match(/shared/g)).toHaveLength(1);
    fs.rmSync(space.at("AGENTS.md"));
    fs.writeFileSync(path.join(space.outside, "secret"), "secret");
    fs.symlinkSync(path.join(space.outside, "secret"), space.at("AGENTS.md"));
    expect(await context()).not.toContain("secret");
    fs.rmSync(space.at("AGENTS.md"));
    execFileSync("mkfifo", [space.at("AGENTS.md")]);
    expect(await context()).toContain("shared");
  });

  it("bounds instructions", async () => {
    space.write("CLAUDE.md", "x".repeat(100_000));
    expect((await context())?.length).toBeLessThan(40_500);
  });

  it("starts nothing that the repository's settings name", async () => {
    git("init", "-q");
    const mark = path.join(space.base, "ran");
    // Signs like gpg, so that git has a signature that it would have checked.
    const script = space.write(
      "evil.sh",
      `#!/bin/sh
touch ${mark}
echo "[GNUPG:] SIG_CREATED " >&2
printf '%s\\n' '-----BEGIN PGP SIGNATURE-----' '' x '-----END PGP SIGNATURE-----'
`,
    );
    fs.chmodSync(script, 0o755);
    for (const name of ["core.fsmonitor", "core.pager", "gpg.program"]) git("config", name, script);
    git("config", "log.showSignature", "true");
    git("commit", "-q", "-S", "--allow-empty", "-m", "one");
    git("log", "-1");
    expect(fs.existsSync(mark)).toBe(true);
    fs.rmSync(mark);
    expect(await context()).toContain("one");
    expect(fs.existsSync(mark)).toBe(false);
  });

  it("stops when aborted", async () => {
    const aborted = AbortSignal.abort(new Error("off"));
    await expect(projectContext({ cwd: space.cwd, env: space.context.env }, aborted)).rejects.toThrow("off");
  });
});
