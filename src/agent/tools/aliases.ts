/** Older and other people's names of tools, in lower case, to ours; read in definitions, rules and hook matchers alike. */
const aliases: Readonly<Record<string, string>> = {
  task: "Agent",
  agent: "Agent",
  read_file: "Read",
  write_file: "Write",
  filewrite: "Write",
  edit_file: "Edit",
  fileedit: "Edit",
  list_files: "Glob",
  grep_search: "Grep",
  run_shell: "Bash",
};

/** The name a tool goes by here; a name that is no alias comes back as it is. */
export function canonicalToolName(name: string): string {
  const key = name.toLowerCase();
  return Object.hasOwn(aliases, key) ? (aliases[key] ?? name) : name;
}
