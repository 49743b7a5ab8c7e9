import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultScript } from "../../../../src/agent/model/offline/default-script.js";
import { loadOfflineScript, parseOfflineScript } from "../../../../src/agent/model/offline/load-script.js";
import type { TroupeError } from "../../../../src/util/errors.js";

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
});
afterEach(() => fs.rmSync(dir, { recursive: true }));

test("a script is read and compiled; names have no case", () => {
  const file = path.join(dir, "s.yaml");
  fs.writeFileSync(file, "version: 1\nagents:\n  Explore:\n    - text: hi\n");
  const script = loadOfflineScript(file);
  expect([...script.agents.keys()]).toEqual(["explore"]);
  expect(script).toMatchObject({ file, delayMs: 15 });
});

test("the built-in script is sound", () => {
  expect(defaultScript().agents.get("default")?.steps).toHaveLength(2);
});

test("a file that cannot be read", () => {
  expect(fault(() => loadOfflineScript(path.join(dir, "none.yaml")))).toMatchObject({
    code: "offline-script",
    kind: "usage",
    message: expect.stringContaining("none.yaml cannot be read: ENOENT"),
  });
});

test.each([
  ["agents: [unclosed", /^s\.yaml:1:\d+: /],
  ["version: 1\nversion: 1\n", /^s\.yaml:2:1: Map keys must be unique/],
  ["", /^s\.yaml:1:1: script: /],
  ["version: 2\nagents: {}\n", /^s\.yaml:1:10: version: /],
  [
    "version: 1\nagents:\n  a:\n    - txt: hi\n",
    /^s\.yaml:4:12: agents\.a\.steps\.0: Unrecognized key: "txt"/,
  ],
  [
    "version: 1\nagents:\n  a:\n    - await: b\n",
    /^s\.yaml:4:7: agents\.a\.steps\.0: a step needs text or tools/,
  ],
  [
    "version: 1\nagents:\n  a:\n    - text: '{{ x'\n",
    /^s\.yaml:4:13: agents\.a\.steps\.0\.text: "\{\{" without/,
  ],
  [
    "version: 1\nagents:\n  a:\n    - tools:\n        - tool: T\n          input:\n            deep: ['{{ a | shout }}']\n",
    /^s\.yaml:7:20: agents\.a\.steps\.0\.tools\.0\.input\.deep\.0: there is no filter "shout"/,
  ],
  [
    "version: 1\nagents:\n  a:\n    - text: '{{ result.x }}'\n      tools:\n        - { tool: T, as: x }\n",
    /^s\.yaml:4:13: agents\.a\.steps\.0\.text: no earlier step names a result "x"/,
  ],
  [
    "version: 1\nagents:\n  a:\n    - text: '{{ env.HOME }}'\n",
    /a value starts with result, error, mail, from or agent/,
  ],
  ["version: 1\nagents:\n  a:\n    - text: '{{ mail.b.two }}'\n", /mail is written mail\.NAME/],
  [
    "version: 1\nagents:\n  a:\n    - tools:\n        - { tool: T, when: 'a }}' }\n",
    /:5:28: .*does not belong/,
  ],
])("%j is told with its place", (text, words) => {
  const error = fault(() => parseOfflineScript(text, "s.yaml"));
  expect(error).toMatchObject({ code: "offline-script", kind: "usage" });
  expect(error.message).toMatch(words);
});

test("several mistakes are told at once", () => {
  const text = "version: 1\nagents:\n  a:\n    - text: 7\n    - text: '{{ x'\n";
  expect(fault(() => parseOfflineScript(text, "s.yaml")).message.split("\n")).toHaveLength(2);
});

function fault(work: () => unknown): TroupeError {
  try {
    work();
  } catch (error) {
    return error as TroupeError;
  }
  throw new Error("no error");
}
