import * as z from "zod";
import { permissionModes } from "../../agent/permissions/mode.js";
import { type ColourName, colours } from "../colours.js";

const seconds = z.number().positive();

const teammate = z.strictObject({
  name: z.string(),
  agent: z.string().optional(),
  command: z.union([z.string().min(1), z.array(z.string()).min(1)]).optional(),
  /** For a command that reads only its terminal: its mail is typed there. */
  input: z.literal("terminal").optional(),
  prompt: z.string().optional(),
  model: z.string().optional(),
  permissionMode: z.enum(permissionModes).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  color: z.enum(Object.keys(colours) as [ColourName, ...ColourName[]]).optional(),
  service: z.boolean().optional(),
  maxTurns: z.int().positive().optional(),
});

/** One entry of `teammates:`, or what `troupe spawn` sends to the host. A `command` string is run by `/bin/sh -c`. */
export type TeammateSpec = z.infer<typeof teammate>;

export const teammateSchema = teammate;

/** A team file as people write it. Fields that are not here are errors. */
export const teamFileSchema = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  lead: z
    .strictObject({
      agent: z.string(),
      prompt: z.string().optional(),
      model: z.string().optional(),
      permissionMode: z.enum(permissionModes).optional(),
      maxTurns: z.int().positive().optional(),
    })
    .optional(),
  backend: z.enum(["auto", "tmux", "iterm2", "in-process"]).optional(),
  /** Model of every agent that names none: an alias, an id, or `offline`. */
  model: z.string().optional(),
  /** Script of the offline model, relative to the team file. */
  modelScript: z.string().optional(),
  layout: z.enum(["main-vertical", "tiled", "even-horizontal", "even-vertical", "windows"]).optional(),
  leadWidth: z.int().min(10).max(90).optional(),
  maxPanesPerWindow: z.int().min(1).max(30).optional(),
  limits: z
    .strictObject({
      teammates: z.int().positive().optional(),
      shutdownDeadline: seconds.optional(),
      orphanTimeout: seconds.optional(),
    })
    .optional(),
  tmux: z.strictObject({ userConfig: z.boolean().optional() }).optional(),
  teammates: z.array(teammate).default([]),
  /** Groups of members, by name: mail to `#name` reaches each of them. */
  channels: z.record(z.string(), z.array(z.string()).min(1)).optional(),
});

export type TeamFile = z.infer<typeof teamFileSchema>;
