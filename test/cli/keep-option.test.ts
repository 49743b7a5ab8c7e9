import { expect, it } from "vitest";
import { stop } from "../../src/cli/commands/stop.js";
import { keptPids } from "../../src/cli/keep-option.js";

it("takes numbers of processes, and refuses what is none", () => {
  expect(keptPids(stop, [])).toEqual([]);
  expect(keptPids(stop, ["4711", "2"])).toEqual([4711, 2]);
  for (const word of ["0", "1", "-5", "0x10", "1e3", "4.5", "", " 7", "server", "99999999999999999999"])
    expect(() => keptPids(stop, ["2", word]), word).toThrow(/--keep .* is not the number of a process/);
});
