import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createFileState } from "../../../../src/agent/file-state.js";
import { frameMessage } from "../../../../src/agent/message-frame.js";
import { filters } from "../../../../src/agent/model/offline/filters.js";
import { parseOfflineScript } from "../../../../src/agent/model/offline/load-script.js";
import { createGlobTool } from "../../../../src/agent/tools/glob.js";
import { createReadTool } from "../../../../src/agent/tools/read.js";
import { play } from "./script-harness.js";

const page = fs.readFileSync(new URL("../../../../docs/offline-model.md", import.meta.url), "utf8");

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
});
afterEach(() => fs.rmSync(dir, { recursive: true }));

test("the example does what the page says", async () => {
  fs.writeFileSync(path.join(dir, "guide.md"), "# The guide\n");
  const script = parseOfflineScript(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? "", "docs");
  const sent: string[] = [];
  const schema = z.object({ to: z.string(), message: z.string() });
  const result = await play({
    script,
    agent: "counter",
    conversation: [],
    input: [{ id: "p", text: "Go.", label: "prompt" }],
    tools: [
      createGlobTool(),
      createReadTool(),
      {
        name: "SendMessage",
        description: "Sends.",
        schema,
        isReadOnly: () => false,
        summarise: () => "",
        run: async (input) => {
          sent.push((input as z.infer<typeof schema>).message);
          return { content: "Stored." };
        },
      },
    ],
    toolContext: { cwd: dir, env: {}, addedDirs: [], outputDir: dir, files: createFileState() },
  });
  expect(result.text).toBe("The lead knows.");
  expect(sent).toEqual(["1 Markdown files, The guide\n"]);

  const text = frameMessage({ id: "1", from: "counter", kind: "text", text: sent[0] ?? "" });
  const input = [{ id: "1", text, label: "mail" }];
  expect((await play({ script, agent: "lead", conversation: [], input })).text).toBe(
    "counter reports: 1 Markdown files, The guide",
  );
});

test("every filter is on the page", () => {
  for (const name of Object.keys(filters)) expect(page).toMatch(new RegExp(`\`${name}[ \`]`));
});
