import { anthropicOptions, createAnthropicModel } from "../agent/model/anthropic.js";
import type { ModelClient } from "../agent/model/types.js";
import { TroupeError } from "../util/errors.js";

/** Aliases for model ids; a server of another vendor gets ids as they stand. */
const modelAliases: ReadonlyMap<string, string> = new Map([
  ["haiku", "claude-haiku-5-5"],
  ["sonnet", "claude-sonnet-5-5"],
  ["opus", "claude-opus-5-5"],
]);

/** The model of an agent that names none, and whose definition and team name none. */
const defaultModel = "sonnet";

/**
 * Which model an agent uses: `offline` for the whole team overrides all; else the teammate's own, the definition's
 * (unless `inherit`), the team's, the default. The answer is `offline` or a model id.
 */
export function chooseModel(choices: {
  readonly own?: string | undefined;
  readonly definition?: string | undefined;
  readonly team?: string | undefined;
}): string {
  if (choices.team === "offline") return "offline";
  // A definition's alias names a model of one vendor; a team that runs on another vendor's gets that one throughout.
  const isPassed =
    choices.definition === "inherit" || (isAlias(choices.definition) && isForeign(choices.team));
  const definition = isPassed ? undefined : choices.definition;
  const chosen = choices.own ?? definition ?? choices.team ?? defaultModel;
  return modelAliases.get(chosen) ?? chosen;
}

function isAlias(model: string | undefined): boolean {
  return model !== undefined && modelAliases.has(model);
}

function isForeign(model: string | undefined): boolean {
  return model !== undefined && !isAlias(model) && !model.startsWith("claude-");
}

/** A client for a model that {@link chooseModel} chose. `agentKeys`: the script's parts to look for, best first. */
export async function openModel(options: {
  readonly model: string;
  readonly script: string | undefined;
  readonly agentKeys: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<ModelClient> {
  if (options.model === "offline") {
    const [script, { createOfflineModel }] = await Promise.all([
      options.script === undefined ? undefined : loadScript(options.script),
      import("../agent/model/offline.js"),
    ]);
    return createOfflineModel({ script, agentKeys: options.agentKeys });
  }
  checkCredentials(options.env);
  return createAnthropicModel({ ...anthropicOptions(options.env), label: options.model });
}

async function loadScript(file: string) {
  const { loadOfflineScript } = await import("../agent/model/offline/load-script.js");
  return loadOfflineScript(file);
}

/** Throws TroupeError `no-key` where no embedded agent could reach a model. Checked before anything starts. */
export function checkCredentials(env: Readonly<Record<string, string | undefined>>): void {
  if (env["ANTHROPIC_API_KEY"] || env["ANTHROPIC_AUTH_TOKEN"] || env["ANTHROPIC_BASE_URL"]) return;
  throw new TroupeError("no-key", "embedded agents need a key or a base URL, and neither is set", {
    kind: "usage",
    remedy: "set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL; to look around without either: --model offline",
  });
}
