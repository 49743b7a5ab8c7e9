import { expect, it } from "vitest";
import { renderEndReports } from "../../src/ui/end-report.js";
import { createStyle } from "../../src/ui/style.js";
import { hostile } from "./events.js";

const style = createStyle({}, {});
const server = { pid: 4711, command: "node dev-server.js" };
const stuck = { pid: 4712, command: `sleep ${hostile}` };

it("tells how each member ended, and what else was found", () => {
  const rows = renderEndReports(
    [
      { name: "scout", how: "asked", report: { found: [], ended: [], survivors: [] } },
      { name: "fixer", how: "terminated", report: { found: [server], ended: [server], survivors: [] } },
      { name: "tests", how: "asked", report: { found: [], ended: [], survivors: [], kept: [server] } },
      { name: "docs", how: "asked", report: { found: [], ended: [], survivors: [], lost: [server] } },
      {
        name: "stats",
        how: "killed",
        report: { found: [server, stuck], ended: [server, stuck], survivors: [stuck] },
      },
      { name: "mapper", how: "already", report: { found: [], ended: [], survivors: [] } },
    ],
    style,
  );
  expect(rows).toEqual([
    "scout ended when asked",
    "fixer ended by TERM",
    "  ended 1 process:",
    "    4711 node dev-server.js",
    "tests ended when asked",
    "  kept 1 process:",
    "    4711 node dev-server.js",
    "docs ended when asked",
    "  1 process to be kept ended all the same:",
    "    4711 node dev-server.js",
    "stats did not end in time; killed",
    "  ended 1 process:",
    "    4711 node dev-server.js",
    "  1 process is still running:",
    "    4712 sleep [2J]0;owneda31mbc d",
    "mapper had ended before",
  ]);
});
