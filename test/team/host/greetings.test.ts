import { expect, it } from "vitest";
import { createGreetings } from "../../../src/team/host/greetings.js";

it("a hello reaches who expects it, also before it is asked for, and leaves nothing where it is late or comes again", async () => {
  const greetings = createGreetings();
  const hello = greetings.expect("a");
  greetings.add("a");
  await hello;
  greetings.add("a");
  greetings.forget("a");
  greetings.add("a");
  let heard = false;
  const again = greetings.expect("a").then(() => {
    heard = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toBe(false);
  greetings.add("a");
  await again;
  expect(heard).toBe(true);
});
