import { nameKey } from "../../../util/name-key.js";
import type { OfflineScript } from "./script.js";
import { parseTemplate } from "./template.js";

/**
 * What the offline model plays where no script was given: a look around with a real tool, and the truth about itself. One for
 * all agents of a process, and compiled as it stands here, so that nobody has to load for it what reads scripts.
 */
export function defaultScript(): OfflineScript {
  compiled ??= compile();
  return compiled;
}

let compiled: OfflineScript | undefined;

function compile(): OfflineScript {
  const lookAround = {
    tool: "Glob",
    as: "files",
    when: undefined,
    input: { fields: [["pattern", { template: parseTemplate("**/*") }]] as const },
  };
  const agent = {
    name: "default",
    steps: [
      { await: [], text: parseTemplate(begin), tools: [lookAround] },
      { await: [], text: parseTemplate(end), tools: [] },
    ],
    mail: parseTemplate(mail),
  };
  return { file: "the built-in script", delayMs: 15, agents: new Map([[nameKey(agent.name), agent]]) };
}

const begin = "I am the offline model. I play a script and understand nothing; the tools I call are real.";
const end = `Files here: {{ result.files | total | default "unknown" }}. The newest:
{{ result.files | items | first 5 | bullets | default "- none found" }}

A script of your own makes me do more.
`;
const mail = "I have read the mail from {{ from }}. The script that I play has no answer to it.";
