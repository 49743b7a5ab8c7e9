import fs from "node:fs/promises";
import path from "node:path";
import { TroupeError } from "../src/util/errors.js";
import { teammateEnvironment } from "./environment.js";

/** What a launch script does. Nothing in it may hold a NUL. */
export interface LaunchSpec {
  readonly runDir: string;
  readonly cwd: string;
  /** As {@link teammateEnvironment} completes it; `TERM` is the terminal's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
}

/**
 * Writes `launch.sh` (0700) into the run directory and returns its path. `/bin/sh <path>` in a fresh terminal then
 * becomes the root of the teammate's process tree: it enters the directory, writes the ready record, runs the program as its
 * child in the terminal's foreground with exactly the environment asked for, and writes the exit record. The script holds the
 * environment, secrets too: it empties itself once it runs, and is to be taken away by {@link removeLaunchScript} in any case.
 */
export async function writeLaunchScript(spec: LaunchSpec): Promise<string> {
  const file = path.join(spec.runDir, "launch.sh");
  const text = launchScript(spec);
  await removeLaunchScript(spec.runDir);
  // It is run at once or never, and so needs to outlive no crash.
  await fs.writeFile(file, text, { mode: 0o700, flag: "wx" });
  return file;
}

/**
 * Removes the script, or whatever a teammate has put in its place. One that runs already is not disturbed; one that was not
 * read yet cannot start any more.
 */
export async function removeLaunchScript(runDir: string): Promise<void> {
  await fs.rm(path.join(runDir, "launch.sh"), { recursive: true, force: true });
}

/**
 * The text of the script, for POSIX sh. Every process that is started costs as much as all the rest, so a plain shell (dash,
 * ash) cleans its environment itself. Others add to it, and take variables for orders: env(1) does it for those.
 */
export function launchScript(spec: LaunchSpec): string {
  const { exported, locale, assigned } = splitEnvironment(spec);
  const words = [spec.runDir, spec.cwd, ...spec.argv, ...[...exported, ...locale].flat(), ...assigned];
  if (words.some((word) => word.includes("\0")))
    throw new TroupeError(
      "nul-in-argument",
      "no argument, variable or path of a program may hold a NUL character",
    );
  // Only env(1) can pass a name that is no identifier, or one that the shell keeps for itself, and it takes a program
  // whose name holds "=" for one more variable.
  const variables = [`PWD=${spec.cwd}`, ...locale.map((pair) => pair.join("=")), ...assigned];
  const runner = spec.argv[0]?.includes("=") ? [...variables, "nice", "-n", "0"] : variables;
  const itself = `  [ -n "$_troupe_plain" ] && [ "$PWD" = ${quote(spec.cwd)} ] && {
    unset OLDPWD SHLVL _
    export PWD TERM="$_troupe_terminal"
${exportsOf(locale, "    ")}    exec "$@"
  }
`;
  return `#!/bin/sh
# Starts one teammate in this terminal and records how it ended. Made for a single start.
_troupe_plain=1
if [ -n "\${BASH_VERSION-}\${ZSH_VERSION-}\${KSH_VERSION-}\${YASH_VERSION-}" ] || [ ! -r /proc/self/stat ]; then _troupe_plain=; fi
# A hangup of the terminal goes to its first process alone, whose end passes it on to the program.
if [ "\${1-}" != clean ]; then trap : INT QUIT TERM; fi
if [ -z "$_troupe_plain" ] && [ "\${1-}" != clean ]; then
  /usr/bin/env -i PATH=/usr/bin:/bin TERM="\${TERM-dumb}" /bin/sh "$0" clean
  exit
fi
start() {
  run=${quote(spec.runDir)}
  set -f
  mask=$(umask)
  umask 077
  [ -e "$0" ] && true >"$0"
  trap : HUP INT QUIT TERM
  cd -- ${quote(spec.cwd)} 2>/dev/null || refuse ${quote(`the directory ${spec.cwd} is not there or cannot be entered`)}
  pid=$$
  start=
  if [ -r /proc/self/stat ]; then
    read -r start </proc/self/stat
    pid=\${start%% *}
    set -- \${start##*") "}
    start=\${20}
  fi
  set -- ${spec.argv.map(quote).join(" ")}
  printf '{"v":1,"pid":%s,"startTime":"%s"}\\n' "$pid" "$start" >"$run/ready.json"
  (program "$@")
  status=$?
  printf '{"v":1,"status":%s}\\n' "$status" >"$run/exit.json"
  exit "$status"
}
refuse() {
  printf 'troupe: %s\\n' "$1"
  printf '{"v":1,"status":126}\\n' >"$run/exit.json"
  exit 126
}
program() {
  trap - HUP INT QUIT TERM
  umask "$mask"
  unset PATH TERM
${exportsOf(exported, "  ")}${assigned.length === 0 ? itself : ""}  exec /usr/bin/env -u _ -u OLDPWD -u SHLVL "TERM=$_troupe_terminal" ${runner.map(quote).join(" ")} "$@"
}
_troupe_terminal=\${TERM-dumb}
if [ -n "$_troupe_plain" ]; then
  set -f
  IFS='
'
  for line in $(export -p); do
    name=\${line#export }
    name=\${name%%=*}
    case $name in
      "" | [0-9]* | *[!A-Za-z0-9_]*) ;;
      *) unset "$name" ;;
    esac
  done
  unset IFS line name
  PATH=/usr/bin:/bin
  (start)
  exit
fi
start
`;
}

/** Names that some shell sets, refuses to set, or changes its own ways by; none of them holds a secret. */
const shellsOwn =
  /^(_|PWD|OLDPWD|SHLVL|E?UID|GID|EGID|PPID|GROUPS|USERNAME|IFS|LINENO|OPT(IND|ARG|ERR)|RANDOM|SRANDOM|SECONDS|EPOCH.*|HIST.*|FUNCNAME|DIRSTACK|SHELLOPTS|BASH.*|POSIXLY_CORRECT|PS[0-9]|ENV|TMOUT|LANG|LANGUAGE|LC_.*|MAIL.*|COLUMNS|LINES|ATTY|FUNCTIONS_DEPTH)$/;

/** By which a shell may change how it reads and writes text. */
const localeNames = /^(LANG|LANGUAGE|LC_.*)$/;

type Variable = readonly [name: string, value: string];

/**
 * Variables that every shell exports (never seen in an argument vector), those that a plain one does, and `NAME=VALUE` words
 * for env(1).
 */
function splitEnvironment(spec: LaunchSpec): {
  exported: Variable[];
  locale: Variable[];
  assigned: string[];
} {
  const exported: Variable[] = [];
  const locale: Variable[] = [];
  const assigned: string[] = [];
  for (const [name, value] of Object.entries(teammateEnvironment(spec))) {
    if (name === "TERM" || name === "PWD" || name === "" || name.includes("=")) continue;
    if (localeNames.test(name) && /^[A-Z_]+$/.test(name)) locale.push([name, value]);
    else if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !shellsOwn.test(name)) exported.push([name, value]);
    else assigned.push(`${name}=${value}`);
  }
  return { exported, locale, assigned };
}

function exportsOf(variables: readonly Variable[], indent: string): string {
  return variables.map(([name, value]) => `${indent}export ${name}=${quote(value)}\n`).join("");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
