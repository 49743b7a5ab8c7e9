import * as z from "zod";
import type { Tool } from "../../agent/tool.js";
import { TroupeError } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import type { Channel } from "../channels.js";
import type { Postman } from "../postman.js";
import { isSocketAddress } from "../uds-address.js";

const schema = z.object({
  to: z
    .string()
    .min(1)
    .describe(
      "Name of a member, `lead`, `user`, #channel, or * for everybody; name@team for another team; " +
        "uds:/path.sock for a program that listens there, which needs permission",
    ),
  message: z.string().min(1).describe("The whole text; the reader sees nothing else of your work"),
  summary: z.string().optional().describe("5 to 10 words"),
  inReplyTo: z
    .string()
    .optional()
    .describe("Id of the message that this answers; set for you where it is left out"),
});

/**
 * The tool by which an agent writes to any member. `asked` gives the id of what a message to a member would answer, and
 * `replied` is told the id that a stored one answers. Unknown names are error results that name the nearest member.
 */
export function createSendMessageTool(options: {
  readonly postman: Postman;
  readonly asked: (to: string) => string | undefined;
  readonly replied: (id: string | undefined) => void;
}): Tool<z.infer<typeof schema>> {
  return {
    name: "SendMessage",
    description:
      "Writes a message to a member of your team by name. Members do not see your text output: what they must know, send. " +
      "The message is stored durably and reaches a working member at its next tool call, an idle one at once." +
      channelWords(options.postman.channels),
    schema,
    isReadOnly: () => false,
    alwaysAllowed: true,
    // What leaves the teams for some program is more than mail.
    goesFurther: ({ to }) => isSocketAddress(to),
    permissionSubjects: ({ to }) => [to],
    summarise: (input) => `→ ${oneLine(input.to, 40)}: ${oneLine(input.summary ?? input.message, 80)}`,
    async run(input, { signal }) {
      try {
        const to = options.postman.resolve(input.to);
        const inReplyTo = input.inReplyTo ?? options.asked(to);
        const sent = await options.postman.send(
          input.to,
          {
            kind: "text",
            text: input.message,
            ...(input.summary === undefined ? {} : { summary: input.summary }),
            ...(inReplyTo === undefined ? {} : { inReplyTo }),
          },
          signal,
        );
        options.replied(inReplyTo);
        const lines = sent.map(({ to: name, id, stored, note }) => {
          const parts = [stored ? `Stored for ${name} (id ${id})` : undefined, note];
          return `${parts.filter((part) => part !== undefined).join("; ")}.`;
        });
        return { content: lines.join("\n") };
      } catch (error) {
        if (!(error instanceof TroupeError)) throw error;
        return { isError: true, content: [error.message, error.remedy ?? ""].filter(Boolean).join(". ") };
      }
    },
  };
}

function channelWords(channels: readonly Channel[]): string {
  if (channels.length === 0) return "";
  return ` Channels: ${channels.map(({ address, members }) => `${address} (${members.join(", ")})`).join("; ")}.`;
}
