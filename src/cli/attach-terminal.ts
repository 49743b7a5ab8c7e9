import { spawn } from "node:child_process";
import { once } from "node:events";
import type { LocatedTeam } from "../team/locate.js";
import { withoutTmux } from "./attached.js";
import type { Io } from "./io.js";
import { farewell } from "./lead-session.js";

/** Gives this terminal to `command` (attach to the team's own session) until the session ends or the person detaches. */
export async function attachTerminal(team: LocatedTeam, command: readonly string[], io: Io): Promise<number> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: "inherit", env: withoutTmux(io.env) });
  const [code] = (await once(child, "close")) as [number | null];
  await io.note(await farewell(team));
  return code ?? 1;
}
