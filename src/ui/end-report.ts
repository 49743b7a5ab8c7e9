import type { KillReport, ProcessNote } from "../../backends/types.js";
import type { EndReport } from "../team/host/protocol.js";
import { oneLine } from "../util/text.js";
import type { Style } from "./style.js";
import { counted } from "./words.js";

/** What `stop` or `down` found and ended, in plain words: a row per member, and one per process that it left behind. */
export function renderEndReports(reports: readonly EndReport[], style: Style): string[] {
  return reports.flatMap(({ name, how, report }) => [
    `${oneLine(name)} ${howWords[how]}`,
    ...endReportRows(report, style).map((row) => `  ${row}`),
  ]);
}

/** The processes of one member that were found after its own end. */
export function endReportRows(report: KillReport, style: Style): string[] {
  const survivors = new Set(report.survivors.map(({ pid }) => pid));
  const { kept = [], lost = [] } = report;
  const ended = report.ended.filter(({ pid }) => !survivors.has(pid));
  return [
    ...list(`ended ${counted(ended.length, "process", "processes")}`, ended),
    ...list(`kept ${counted(kept.length, "process", "processes")}`, kept),
    ...list(`${counted(lost.length, "process", "processes")} to be kept ended all the same`, lost).map(
      style.bad,
    ),
    ...list(
      `${counted(report.survivors.length, "process is", "processes are")} still running`,
      report.survivors,
    ).map(style.bad),
  ];
}

const howWords: Readonly<Record<EndReport["how"], string>> = {
  asked: "ended when asked",
  terminated: "ended by TERM",
  killed: "did not end in time; killed",
  already: "had ended before",
};

function list(title: string, processes: readonly ProcessNote[]): string[] {
  return processes.length === 0
    ? []
    : [`${title}:`, ...processes.map(({ pid, command }) => `  ${pid} ${oneLine(command)}`)];
}
