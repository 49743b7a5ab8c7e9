import { TroupeError } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import { oneLine } from "../../util/text.js";
import { builtinDefinitions } from "./builtin.js";
import type { AgentDefinition } from "./definition.js";

/** Short names of types, where no definition has that name itself. */
const aliases = new Map([["general", "general-purpose"]]);

/** The definitions that count: of several with one name the last. */
export function inForce(definitions: readonly AgentDefinition[]): readonly AgentDefinition[] {
  return [...new Map(definitions.map((one) => [nameKey(one.name), one])).values()];
}

/**
 * The definition of a type, without regard to case; later definitions override earlier ones. Throws TroupeError
 * `agent-type-unknown`, kind `usage`, that lists what there is.
 */
export function findDefinition(
  type: string,
  definitions: readonly AgentDefinition[] = builtinDefinitions,
): AgentDefinition {
  const byKey = new Map(definitions.map((one) => [nameKey(one.name), one]));
  const key = nameKey(type.trim());
  const found = byKey.get(key) ?? byKey.get(aliases.get(key) ?? "");
  if (found !== undefined) return found;
  const names = inForce(definitions).map(({ name }) => name);
  throw new TroupeError("agent-type-unknown", `there is no agent type ${JSON.stringify(oneLine(type, 80))}`, {
    kind: "usage",
    remedy: `one of: ${names.join(", ")}`,
  });
}
