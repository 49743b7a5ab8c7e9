import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkCredentials, chooseModel, openModel } from "../../src/team/model-choice.js";
import { temporaryDirectory } from "../helpers/temp.js";

describe("chooseModel", () => {
  it.each([
    // own, definition, team, chosen
    [undefined, undefined, undefined, "claude-sonnet-5-5"],
    ["own", "def", "team", "own"],
    [undefined, "def", "team", "def"],
    [undefined, "inherit", "team", "team"],
    [undefined, undefined, "team", "team"],
    [undefined, "inherit", undefined, "claude-sonnet-5-5"],
    ["own", "inherit", undefined, "own"],
    ["own", "def", "offline", "offline"],
    [undefined, "def", "offline", "offline"],
    ["offline", "def", "team", "offline"],
    ["haiku", undefined, undefined, "claude-haiku-5-5"],
    [undefined, "opus", "claude-team", "claude-opus-5-5"],
    [undefined, "opus", "haiku", "claude-opus-5-5"],
    [undefined, "opus", "other-vendor", "other-vendor"],
    [undefined, undefined, "sonnet", "claude-sonnet-5-5"],
    ["Opus", undefined, undefined, "Opus"],
    ["vendor/model:7b", undefined, undefined, "vendor/model:7b"],
    ["constructor", undefined, undefined, "constructor"],
    ["__proto__", undefined, undefined, "__proto__"],
  ])("own %s, definition %s, team %s: %s", (own, definition, team, chosen) => {
    expect(chooseModel({ own, definition, team })).toBe(chosen);
  });
});

describe("openModel", () => {
  const rest = { script: undefined, agentKeys: ["ada"], env: {} };

  it("needs no key for the offline model, whose name says what it is", async () => {
    expect(await openModel({ ...rest, model: "offline" })).toMatchObject({
      scripted: true,
      label: "offline (scripted)",
    });
  });

  it("plays the script it was given", async () => {
    const script = path.join(temporaryDirectory(), "s.yaml");
    fs.writeFileSync(script, "version: 1\nagents: { bob: [{ text: hello }] }\n");
    const given = { ...rest, model: "offline", script };
    expect(await openModel({ ...given, agentKeys: ["ada", "Bob"] })).toMatchObject({ scripted: true });
    await expect(openModel(given)).rejects.toMatchObject({ code: "offline-script" });
  });

  it("shows a real model by its id", async () => {
    const model = await openModel({ ...rest, model: "claude-x", env: { ANTHROPIC_API_KEY: "k" } });
    expect(model).toMatchObject({ scripted: false, label: "claude-x" });
  });
});

describe("checkCredentials", () => {
  it.each(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"])(
    "is content with %s",
    (name) => {
      checkCredentials({ [name]: "x" });
      expect(() => checkCredentials({ [name]: "" })).toThrow(
        expect.objectContaining({
          code: "no-key",
          kind: "usage",
          remedy: expect.stringContaining("offline"),
        }),
      );
    },
  );
});
