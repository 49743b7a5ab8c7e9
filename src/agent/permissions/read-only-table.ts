/** The options with which a command only reads. Whatever is not named makes it something else. */
export interface Options {
  /** No option of this command writes, runs or changes anything. */
  readonly any?: true;
  /** Single letters without a value, which may be joined: `-la`. */
  readonly flags?: string;
  /** Single letters whose value may follow in the same word: `-n5`. */
  readonly valued?: string;
  /** `-5`. */
  readonly numbers?: true;
  /** Options spelled out, with or without `=value`; for `find` its expressions. */
  readonly words?: ReadonlySet<string>;
  /** What the remaining arguments must be. */
  readonly operands?: (operands: readonly string[]) => boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const none = (operands: readonly string[]) => operands.length === 0;
const any: Options = { any: true };

/** Commands other than git. Left out on purpose: `printf` and `test` (they can set variables and evaluate), `env`, `ps`
 * (they show credentials), `date`, `hostname` (they can set), `less`, `man`, `awk`, `xargs` (they run commands). */
export const readers: Readonly<Record<string, Options>> = {
  basename: any,
  cat: any,
  cksum: any,
  cmp: any,
  column: any,
  comm: any,
  cut: any,
  df: any,
  diff: any,
  dirname: any,
  du: any,
  echo: any,
  egrep: any,
  false: any,
  fgrep: any,
  file: { flags: "bikLN", words: words("--brief --mime --mime-type --mime-encoding") },
  find: {
    words:
      words(`-H -L -P -name -iname -path -ipath -wholename -regex -iregex -regextype -type -maxdepth -mindepth -size
      -mtime -mmin -atime -amin -ctime -cmin -newer -empty -not -o -or -a -and -print -print0 -printf -ls -prune -perm
      -user -group -depth -xdev -mount -quit -true -false -readable -writable -executable -links -inum -samefile
      -daystart`),
  },
  grep: any,
  head: any,
  id: any,
  ls: any,
  md5sum: any,
  nl: any,
  od: any,
  paste: any,
  pwd: any,
  readlink: any,
  realpath: any,
  rev: any,
  rg: {
    flags: "FHILNPSUVacilnopqsuvwx0.",
    valued: "ABCEMTdefgjmrt",
    words:
      words(`--files --files-with-matches --files-without-match --count --count-matches --line-number --no-line-number
      --ignore-case --smart-case --case-sensitive --fixed-strings --word-regexp --line-regexp --invert-match --only-matching
      --multiline --multiline-dotall --pcre2 --hidden --no-ignore --no-ignore-vcs --follow --glob --iglob --type --type-not
      --type-list --regexp --file --max-count --max-depth --max-columns --max-filesize --after-context --before-context
      --context --heading --no-heading --with-filename --no-filename --null --sort --sortr --stats --json --vimgrep --trim
      --color --colors --column --replace --passthru --no-messages --no-config --quiet --text --unrestricted --version`),
  },
  sed: {
    flags: "nEr",
    operands: ([script = ""]) => /^(\d+|\$)(,(\d+|\$))?p$/.test(script),
  },
  sha1sum: any,
  sha256sum: any,
  sort: {
    flags: "bdfghiMnrRsuVz",
    valued: "kt",
    words: words("--numeric-sort --reverse --unique --key --human-numeric-sort"),
  },
  stat: any,
  strings: any,
  tac: any,
  tail: any,
  tr: any,
  tree: {
    flags: "adfpughDFCsn",
    valued: "LIP",
    words: words("-L -I -P --noreport --dirsfirst --gitignore --du"),
  },
  true: any,
  uname: any,
  uniq: { flags: "cdDiuz", valued: "fsw", words: words("--count --repeated --unique"), operands: none },
  wc: any,
  which: any,
  whoami: any,
};

const show =
  words(`--abbrev --abbrev-commit --all --all-match --author --after --before --boundary --branches --cached --cc
  --cherry --cherry-mark --cherry-pick --check --color --color-words --committer --compact-summary --count --date --date-order
  --decorate --decorate-refs --diff-algorithm --diff-filter --dirstat --exit-code --find-copies --find-renames --first-parent
  --follow --format --full-diff --full-history --full-index --function-context --graph --grep --histogram --ignore-all-space
  --ignore-blank-lines --ignore-space-at-eol --ignore-space-change --inter-hunk-context --invert-grep --left-only --left-right
  --max-count --max-parents --merge-base --merges --min-parents --minimal --name-only --name-status --no-abbrev-commit
  --no-color --no-decorate --no-ext-diff --no-merges --no-notes --no-patch --no-prefix --no-renames --no-textconv --numstat
  --oneline --parents --patch --patch-with-stat --patience --perl-regexp --pickaxe-all --pickaxe-regex --pretty --quiet --raw
  --regexp-ignore-case --relative --relative-date --remotes --reverse --right-only --shortstat --simplify-by-decoration
  --since --skip --source --staged --stat --submodule --summary --tags --text --topo-order --unified --until --walk-reflogs
  --word-diff --word-diff-regex -1 -M -C`);

const showing: Options = {
  flags: "abceghimpqrstuvwzEFPRW",
  valued: "nSGULMCBDX",
  numbers: true,
  words: show,
};

/** Subcommands of git; `-c`, `-C` and other options before the subcommand make it something else. */
export const gitSubcommands: Readonly<Record<string, Options>> = {
  blame: {
    flags: "bcefklnpstw",
    valued: "LCM",
    words: words("--porcelain --line-porcelain --date --abbrev --since"),
  },
  branch: { flags: "alrv", words: words("--all --list --remotes --show-current --verbose"), operands: none },
  "cat-file": { flags: "epst" },
  describe: {
    words: words("--all --always --tags --long --abbrev --dirty --contains --match --exclude --exact-match"),
  },
  diff: showing,
  "diff-tree": showing,
  "for-each-ref": { words: words("--format --sort --count --contains --merged --no-merged --points-at") },
  grep: {
    flags: "EFGHILPWachilnopqrvwz",
    valued: "ABCefm",
    words:
      words(`--cached --untracked --no-index --ignore-case --word-regexp --line-number --count --files-with-matches
      --name-only --extended-regexp --fixed-strings --perl-regexp --and --or --not --heading --break --show-function
      --function-context --max-depth --after-context --before-context --context --column --no-color --color --quiet`),
  },
  log: showing,
  "ls-files": {
    flags: "cdmostkuvz",
    valued: "xX",
    words:
      words(`--cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude --exclude-standard
      --directory --error-unmatch --full-name --abbrev --eol --deduplicate`),
  },
  "ls-tree": {
    flags: "drtlz",
    words: words("--long --name-only --name-status --full-name --full-tree --abbrev --format"),
  },
  "merge-base": { flags: "a", words: words("--all --is-ancestor --octopus --independent --fork-point") },
  "name-rev": { words: words("--tags --refs --exclude --all --name-only --no-undefined --always") },
  remote: {
    flags: "v",
    words: words("--verbose"),
    operands: (rest) => rest.length === 0 || rest[0] === "get-url",
  },
  "rev-list": showing,
  "rev-parse": {
    words:
      words(`--abbrev-ref --short --verify --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix
      --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository
      --is-shallow-repository --show-superproject-working-tree --all --branches --tags --remotes`),
  },
  shortlog: {
    flags: "csne",
    words: words("--numbered --summary --email --since --until --author --no-merges --all"),
  },
  show: showing,
  "show-ref": {
    flags: "dsq",
    words: words("--heads --tags --head --hash --verify --quiet --dereference --abbrev"),
  },
  stash: { operands: ([verb, ...rest]) => verb === "list" && rest.length === 0 },
  status: {
    flags: "bsuvz",
    words:
      words(`--short --branch --porcelain --long --verbose --untracked-files --ignored --ignore-submodules --show-stash
      --ahead-behind --no-ahead-behind --column --no-column --renames --no-renames --find-renames`),
  },
  tag: {
    flags: "l",
    valued: "n",
    words: words("--list --sort --contains --points-at --merged --format"),
    operands: none,
  },
  worktree: {
    words: words("--porcelain"),
    operands: ([verb, ...rest]) => verb === "list" && rest.length === 0,
  },
};
