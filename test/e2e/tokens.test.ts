import { expect, onTestFinished, test } from "vitest";
import { startMessagesServer } from "../helpers/messages-server.js";
import { makePlace } from "../helpers/place.js";
import { memberIn, stateOf } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

test.each(["in-process", "tmux"])("status knows the tokens of an agent in %s", async (backend) => {
  const usage = { input_tokens: 700, output_tokens: 30 };
  const server = await startMessagesServer({ turns: [{ text: "Done.", usage }] });
  onTestFinished(server.close);
  const place = await makePlace();
  place.write("team.yaml", {
    name: "demo",
    teammates: [{ name: "ada", agent: "Explore", prompt: "Look." }],
  });
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-ant-test" };
  const up = await place.troupe(["up", "team.yaml", "-d", "--backend", backend], { env });
  expect(up).toMatchObject({ code: 0 });
  await memberIn(place, "ada", "idle");
  const ada = await until(() => stateOf(place).members.find(({ billed }) => billed !== undefined), "tokens");
  expect(ada).toMatchObject({ name: "ada", billed: { input: 700, output: 30 }, context: 700 });
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});
