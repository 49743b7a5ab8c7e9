import { compileScript, type OfflineScript } from "./script.js";

let compiled: OfflineScript | undefined;

/**
 * What the offline model plays where no script was given: a look around with a real tool, and the truth about itself. As
 * data, so that nobody has to load a parser for it, and one for all agents of a process.
 */
export function defaultScript(): OfflineScript {
  if (compiled !== undefined) return compiled;
  const result = compileScript(source, "the built-in script");
  if (!result.ok) throw new Error(`the built-in script is none: ${result.issues[0]?.message}`);
  compiled = result.script;
  return compiled;
}

const source = {
  version: 1,
  agents: {
    default: {
      steps: [
        {
          text: "I am the offline model. I play a script and understand nothing; the tools I call are real.",
          tools: [{ tool: "Glob", as: "files", input: { pattern: "**/*" } }],
        },
        {
          text: `Files here: {{ result.files | total | default "unknown" }}. The newest:
{{ result.files | items | first 5 | bullets | default "- none found" }}

A script of your own makes me do more.
`,
        },
      ],
      mail: "I have read the mail from {{ from }}. The script that I play has no answer to it.",
    },
  },
};
