import { expect, it } from "vitest";
import { createLastText } from "../../src/ui/last-text.js";

it("knows the last text, however it came in", () => {
  const last = createLastText();
  expect(last.is("")).toBe(false);
  for (const text of ["I ", "found ", "34.\n"]) last.add({ type: "text", text });
  last.add({ type: "text-end" });
  expect(last.is("I found 34.")).toBe(true);
  last.add({ type: "text", text: "Done" });
  expect(last.is("I found 34.")).toBe(false);
  expect(last.is("Done")).toBe(true);
});
