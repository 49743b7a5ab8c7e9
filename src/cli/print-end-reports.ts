import { renderEndReports } from "../ui/end-report.js";
import { createStyle } from "../ui/style.js";
import { exitCodes } from "../util/errors.js";
import type { EndedMembers } from "./end-members.js";
import type { Io } from "./io.js";
import { printResult } from "./output.js";

/** Prints what ending members came to; exit code 1 where something still runs, or was to be kept and is gone. */
export async function printEndReports(io: Io, json: boolean, ended: EndedMembers): Promise<number> {
  const { members } = ended;
  const rows = renderEndReports(members, createStyle(io.stdout, io.env));
  await printResult(io, json, ended, rows.map((row) => `${row}\n`).join(""));
  const isDone = members.every(
    ({ report: { survivors, lost = [] } }) => survivors.length + lost.length === 0,
  );
  return isDone ? 0 : exitCodes.failed;
}
