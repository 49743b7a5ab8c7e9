import { expect, test } from "vitest";
import { paneTitled } from "../helpers/panes.js";
import { makePlace } from "../helpers/place.js";
import { openTerminal } from "../helpers/terminal.js";

const team = {
  name: "pair",
  model: "offline",
  modelScript: "model.yaml",
  teammates: [
    { name: "scout", agent: "general-purpose", prompt: "Begin.", permissionMode: "bypassPermissions" },
    { name: "other", agent: "general-purpose" },
  ],
};

const script = {
  version: 1,
  delayMs: 40,
  agents: {
    scout: {
      steps: [
        {
          text: "I look for the gate and wait until it opens.",
          tools: [
            {
              tool: "Bash",
              as: "gate",
              input: { command: "until [ -e gate ]; do sleep 0.1; done; echo passed" },
            },
          ],
        },
        {
          tools: [
            {
              tool: "SendMessage",
              input: {
                to: "other",
                summary: "the gate",
                message: "the gate is {{ result.gate | lines | first }}",
              },
            },
          ],
        },
        { text: "Streamed to its very last word." },
      ],
      mail: "I have read the mail from {{ from }}.",
    },
    other: {
      steps: [{ await: "scout", text: "Other heard: {{ mail.scout }}" }],
      mail: "Other read {{ from }}.",
    },
  },
};

test("a pane shows name, calls, text as it streams and mail both ways, and takes typed messages", async () => {
  const place = await makePlace();
  place.write("team.yaml", team);
  place.write("model.yaml", script);
  const terminal = openTerminal(place, { inTmux: true });
  terminal.type("troupe up team.yaml -d");
  const scout = await paneTitled(terminal.run, "scout");
  await scout.shows(/scout .*general-purpose.*offline \(scripted\)/);
  await scout.shows(/I look for the gate/);
  await scout.shows(/Bash until \[ -e gate \]/);
  expect(await terminal.exitCode()).toBe(0);
  expect(terminal.pane.text()).toMatch(/team pair runs tmux: called from a tmux pane/);

  // While it works: the message waits, and reaches it behind the call.
  scout.type("are you there?");
  await scout.shows(/are you there\?[\s\S]*are you there\?|from user.*are you there\?/);
  expect(await place.json(["status", "scout"])).toMatchObject({ members: [{ state: "working" }] });
  place.write("gate", "");
  await scout.shows(/other: the gate/);
  await scout.shows(/Streamed to its very last word\./);

  // While it idles: it is read and answered at once.
  await scout.shows(/idle/);
  scout.type("and now?");
  await scout.shows(/and now\?[\s\S]*I have read the mail from user\./);

  const other = await paneTitled(terminal.run, "other");
  await other.shows(/scout[\s\S]*Other heard: the gate is passed/);

  const inbox = await place.troupe(["inbox"]);
  expect(inbox.stdout).toMatch(/from scout .*\n.*Streamed to its very last word/);
  expect(inbox.stdout).toMatch(/I have read the mail from user\./);

  terminal.type("troupe down");
  expect(await terminal.exitCode()).toBe(0);
  expect(terminal.pane.text()).toMatch(/scout ended when asked/);
  expect(terminal.run("list-panes", "-a", "-F", "#{pane_title}")).not.toMatch(/scout|other/);
});
