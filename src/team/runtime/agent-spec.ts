import path from "node:path";
import * as z from "zod";
import { permissionModes } from "../../agent/permissions/mode.js";
import { TroupeError } from "../../util/errors.js";
import { readTextIfExists } from "../../util/fs.js";

/** What one incarnation of an embedded agent needs to run, in this process or in a pane: `run/<incarnation>/spec.json`. */
export const agentSpecSchema = z.object({
  v: z.literal(1),
  home: z.string(),
  dirName: z.string(),
  team: z.string(),
  id: z.string(),
  name: z.string(),
  agentId: z.string(),
  incarnation: z.string(),
  role: z.enum(["lead", "teammate"]),
  /** Who reports go to: `lead` or `user`. */
  reportsTo: z.enum(["lead", "user"]),
  /** The others when it started, the first of them; and how many more there were. */
  colleagues: z.array(z.object({ name: z.string(), what: z.string() })),
  furtherColleagues: z.number(),
  agentType: z.string(),
  prompt: z.string().optional(),
  /** `offline` or a model id; aliases are resolved. */
  model: z.string(),
  modelScript: z.string().optional(),
  permissionMode: z.enum(permissionModes),
  colour: z.number(),
  cwd: z.string(),
  maxTurns: z.number(),
  orphanTimeoutMs: z.number(),
  /** Private key of this incarnation. */
  keyFile: z.string(),
  runDir: z.string(),
});

export type AgentSpec = z.infer<typeof agentSpecSchema>;

/** Where an agent's description is kept in its run directory. */
export function specFile(runDir: string): string {
  return path.join(runDir, "spec.json");
}

export function readAgentSpec(file: string): AgentSpec {
  const text = readTextIfExists(file);
  if (text === undefined)
    throw new TroupeError("no-spec", `no teammate is described by ${file}`, { kind: "usage" });
  const checked = agentSpecSchema.safeParse(JSON.parse(text));
  if (checked.success) return checked.data;
  throw new TroupeError("bad-spec", `${file} does not describe a teammate of this version`, {
    kind: "usage",
    cause: checked.error,
    remedy: "start the team with this version of troupe",
  });
}
