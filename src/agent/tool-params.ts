import type { Tool as ToolParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import * as z from "zod";
import type { Tool } from "./tool.js";

/** Tools as the API takes them: each schema as JSON Schema, in the order given. */
export function toolParams(tools: readonly Tool[]): ToolParam[] {
  return tools.map(({ name, description, schema }) => {
    const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    return { name, description, input_schema: { ...inputSchema, type: "object" } };
  });
}
