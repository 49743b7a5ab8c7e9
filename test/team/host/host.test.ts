import { expect, it, onTestFinished } from "vitest";
import { openHost } from "../../../src/team/host/host.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

it("a look at members that fails is told by its name, once", async () => {
  const context = await hostContext(await makeLivingTeam());
  const executors = {
    ...context.executors,
    get paneTags(): never {
      throw new Error("no panes");
    },
  };
  const host = await openHost({ ...context, executors, troupe: ["true"] }, { publicKey: "" });
  onTestFinished(async () => {
    await host.down({ timeoutMs: 0 });
    await host.closed;
  });
  const told = () => context.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  await until(() => told().length > 0, "the notice");
  expect(told()).toEqual(["members' panes are not watched any more: no panes"]);
});
