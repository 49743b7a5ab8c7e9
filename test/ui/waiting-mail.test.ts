import { expect, it } from "vitest";
import { createStyle } from "../../src/ui/style.js";
import { createWaitingMail, type MailEvent } from "../../src/ui/waiting-mail.js";

const style = createStyle({}, { LANG: "C.UTF-8" });
const mail = (id: string): MailEvent => ({
  at: "",
  type: "mail",
  id,
  from: "lead",
  to: "scout",
  kind: "text",
  summary: `no. ${id}`,
  text: "",
});

it("shows mail from its arrival until it is read, the latest three", () => {
  const waiting = createWaitingMail();
  for (const id of ["1", "2", "3", "4"]) waiting.arrived(mail(id));
  expect(waiting.rows(style)).toEqual(["2", "3", "4"].map((id) => `← from lead: no. ${id} (waiting)`));
  waiting.read(["2", "4"]);
  expect(waiting.rows(style)).toEqual(["1", "3"].map((id) => `← from lead: no. ${id} (waiting)`));
});

it("does not show mail that was read before it was told of", () => {
  const waiting = createWaitingMail();
  waiting.read(["1"]);
  waiting.arrived(mail("1"));
  expect(waiting.rows(style)).toEqual([]);
});
