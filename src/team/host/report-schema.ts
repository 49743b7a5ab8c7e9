import * as z from "zod";
import { TroupeError } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import type { MemberReport } from "./protocol.js";

const mail = z.looseObject({
  type: z.literal("mail"),
  id: z.string(),
  from: z.string(),
  to: z.string(),
  kind: z.string(),
  summary: z.string(),
  text: z.string(),
});

const about = { name: z.string(), at: z.string() };

const report = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("state"),
    state: z.looseObject({
      state: z.enum(["blocked", "starting", "working", "idle", "stopping", "ended"]),
      reason: z.string().optional(),
      detail: z.string().optional(),
      since: z.string(),
    }),
    activity: z.string().optional(),
  }),
  z.object({
    type: z.literal("event"),
    event: z.discriminatedUnion("type", [
      z.looseObject({ ...about, type: z.literal("agent"), event: z.looseObject({ type: z.string() }) }),
      z.looseObject({
        ...about,
        type: z.literal("notice"),
        level: z.enum(["info", "warning"]),
        text: z.string(),
      }),
      z.looseObject({ ...about, type: z.literal("output"), line: z.string() }),
      mail.extend({ at: z.string() }),
    ]),
  }),
]);

/**
 * A report as it came over the socket, if it is one that `name` may make: about itself, or mail that it received. Throws
 * TroupeError `bad-report` otherwise; nothing of it reaches a viewer or a record then.
 */
export function checkReport(value: unknown, name: string): MemberReport {
  const checked = report.safeParse(value);
  if (!checked.success)
    throw new TroupeError(
      "bad-report",
      `${name} sent a report that is none: ${checked.error.issues[0]?.message}`,
    );
  const { data } = checked;
  if (data.type === "event") {
    const subject = data.event.type === "mail" ? data.event.to : data.event.name;
    if (nameKey(subject) !== nameKey(name))
      throw new TroupeError("bad-report", `${name} sent a report about somebody else`);
  }
  return data as MemberReport;
}
