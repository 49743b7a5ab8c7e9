import { execFileSync } from "node:child_process";
import fs from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isReadOnlyCommand } from "../../../src/agent/permissions/read-only-command.js";
import { gitSubcommands, readers } from "../../../src/agent/permissions/read-only-table.js";
import { createWorkspace } from "../tools/workspace.js";

describe("isReadOnlyCommand", () => {
  it.each([
    "ls -la src",
    "cat package.json",
    "head -n 20 a.ts",
    "wc -l a b",
    "find . -name '*.ts' -not -path './node_modules/*' -type f -maxdepth 3",
    "rg -n --type ts 'foo|bar' src -A3",
    "rg --files -g '*.ts' | head -20",
    "grep -rn foo src | sort -u | wc -l",
    "sort -rn -k2,3 f",
    "sort | uniq -c",
    "sed -n '10,20p' a.ts",
    "sed -n '5,$p' a.ts",
    "tree -L 2 src",
    "git status",
    "git status --short --branch",
    "git log --oneline -5 --stat -- src",
    "git log -p -S foo --since=2.weeks --author=x",
    "git --no-pager log -n5",
    "git diff HEAD~1 --name-only",
    "git diff --cached -U5 && git status -s",
    "git show HEAD:src/a.ts",
    "git blame -L 1,20 a.ts",
    "git ls-files -o --exclude-standard",
    "git branch -a",
    "git branch --show-current",
    "git remote -v",
    "git remote get-url origin",
    "git stash list",
    "git worktree list --porcelain",
    "git tag -l",
    "git grep -n foo",
    "git rev-parse --show-toplevel",
    "pwd; ls",
  ])("%s", (command) => {
    expect(isReadOnlyCommand(command)).toBe(true);
  });

  it.each([
    "rm a",
    "ls; rm a",
    "ls | tee f",
    "ls > f",
    "./ls",
    "/bin/ls",
    "touch a",
    "find . -delete",
    "find . -name x -exec rm {} +",
    "find . -ok rm",
    "find . -fprint f",
    "find . -fls f",
    "find -- . -delete",
    "find . -newer -delete",
    "sort -o f a",
    "sort -of a",
    "sort -ro f a",
    "sort --output=f a",
    "sort --outp=f a",
    "sort --compress-program=x a",
    "sort -k -- -o f",
    "sort -T /x a",
    "uniq a b",
    "uniq -c a b",
    "sed -i s/a/b/ f",
    "sed -n 's/a/b/w f' f",
    "sed -n 1e f",
    "sed -n -e 1p f",
    "sed 's/a/b/' f",
    "sed -n '1,5p;w f' f",
    "rg --pre cat x",
    "rg --pre=cat x",
    "rg --hostname-bin=x y",
    "rg -z x",
    "rg -nz x",
    "tree -o f",
    "tree -R",
    "file -C",
    "awk 1 f",
    "xargs rm",
    "env",
    "printenv",
    "ps e",
    "printf -v PATH x",
    "test -v 'a[$(rm x)]'",
    "date -s 1",
    "less f",
    "git",
    "git commit -m x",
    "git -c core.pager=x log",
    "git -C .. log",
    "git --git-dir=x status",
    "git --exec-path=x log",
    "git log --output=f",
    "git log --outpu=f",
    "git log --output f",
    "git log -S -- --output=f",
    "git diff --ext-diff",
    "git diff --no-index a b",
    "git show --textconv",
    "git grep -O foo",
    "git grep -Ovim foo",
    "git grep --open-files-in-pager foo",
    "git branch x",
    "git branch -D x",
    "git branch -f x",
    "git branch --list x",
    "git tag v1",
    "git tag -d v1",
    "git remote add o u",
    "git remote -v update",
    "git remote show origin",
    "git stash",
    "git stash list pop",
    "git stash drop",
    "git worktree add x",
    "git worktree prune",
    "git status --help",
    "git config core.pager x",
    "git reflog expire",
    "git hash-object -w f",
    "git constructor",
    "constructor",
    "__proto__ x",
    "toString",
  ])("not: %s", (command) => {
    expect(isReadOnlyCommand(command)).toBe(false);
  });

  it("changes nothing, whatever options of the table are put together", () => {
    const space = createWorkspace();
    try {
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
          cwd: space.cwd,
          stdio: "ignore",
        });
      space.write("a", "b\na\n");
      space.write("d/b", "x\n");
      git("init", "-q");
      git("add", ".");
      git("commit", "-qm", "first");
      const state = () =>
        execFileSync("bash", ["-c", "find . -not -path './.git/index' -type f -exec md5sum {} + | sort"], {
          cwd: space.cwd,
          encoding: "utf8",
        });
      const before = state();
      const commands = [
        ...Object.entries(readers).map(([name, options]) => ({ argv: [name], options })),
        ...Object.entries(gitSubcommands).map(([name, options]) => ({ argv: ["git", name], options })),
      ];
      const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        .split("")
        .map((letter) => `-${letter}`);
      const call = fc.constantFrom(...commands).chain(({ argv, options }) => {
        const known = [
          ...(options.flags ?? "").split("").map((letter) => `-${letter}`),
          ...(options.valued ?? "").split("").map((letter) => `-${letter}1`),
          ...(options.words ?? []),
        ];
        const option = fc.constantFrom(...(known.length === 0 ? letters : known));
        const operand = fc.constantFrom("a", "d", "d/b", "HEAD", "--", "'1p'", "list", "get-url", ".");
        return fc
          .tuple(fc.array(option, { maxLength: 3 }), fc.array(operand, { maxLength: 3 }))
          .map(([flags, operands]) => [...argv, ...flags, ...operands].join(" "));
      });
      const harmless = fc
        .sample(call, 150)
        // tail can wait for ever for more.
        .filter((command) => isReadOnlyCommand(command) && !command.startsWith("tail"));
      expect(harmless.length).toBeGreaterThan(50);
      const script = harmless.map((command) => `(${command}) </dev/null >/dev/null 2>&1`).join("\n");
      execFileSync("bash", ["-c", `${script}\ntrue`], { cwd: space.cwd, stdio: "ignore", timeout: 50_000 });
      expect(state()).toBe(before);
      expect(fs.readdirSync(space.outside)).toEqual([]);
    } finally {
      space.remove();
    }
  }, 60_000);
});
