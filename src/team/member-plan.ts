import fs from "node:fs";
import path from "node:path";
import { findDefinition } from "../agent/definitions/index.js";
import { TroupeError } from "../util/errors.js";
import { oneLine } from "../util/text.js";
import { checkCredentials, chooseModel } from "./model-choice.js";
import { checkName } from "./names.js";
import type { TeamFile, TeammateSpec } from "./team-file/schema.js";

/** A teammate as asked for, or the lead that the team file describes. */
export type MemberSpec = TeammateSpec | (NonNullable<TeamFile["lead"]> & { readonly name: "lead" });

/** The members of a team file in the order they start: an agent lead first. */
export function membersOf(file: TeamFile): readonly MemberSpec[] {
  return file.lead === undefined ? file.teammates : [{ ...file.lead, name: "lead" }, ...file.teammates];
}

/** Refuses what cannot work, before anything exists: name, directory, agent type, credentials. Throws TroupeError. */
export function checkPlan(
  spec: MemberSpec,
  place: {
    readonly projectRoot: string;
    readonly model: string | undefined;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): void {
  if (spec.name !== "lead") checkName(spec.name);
  const cwd = cwdOf(place.projectRoot, spec);
  if (fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new TroupeError("no-cwd", `${spec.name}: the working directory ${cwd} does not exist`, {
      kind: "usage",
      remedy: "make it, or set cwd to one that exists, relative to the project's root",
    });
  if (spec.agent === undefined) return;
  const definition = findDefinition(spec.agent);
  const model = chooseModel({ own: spec.model, definition: definition.model, team: place.model });
  if (model !== "offline") checkCredentials(place.env);
}

/** Where a member works; relative paths start at the project's root. */
export function cwdOf(projectRoot: string, spec: MemberSpec): string {
  return path.resolve(projectRoot, ("cwd" in spec ? spec.cwd : undefined) ?? ".");
}

/** The command of a member that is no agent, in one line. */
export function commandLine(spec: MemberSpec): string {
  const command = "command" in spec ? spec.command : undefined;
  return oneLine(typeof command === "string" ? command : (command ?? []).join(" "), 120);
}
