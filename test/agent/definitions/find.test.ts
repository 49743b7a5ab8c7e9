import { describe, expect, it } from "vitest";
import {
  type AgentDefinition,
  builtinDefinitions,
  findDefinition,
  inForce,
} from "../../../src/agent/definitions/index.js";

const [base] = builtinDefinitions as readonly [AgentDefinition, ...AgentDefinition[]];

describe("findDefinition", () => {
  it("finds the built-in types in any case, by alias too", () => {
    expect(
      ["general-purpose", "General", "explore", "EXPLORE", "plan"].map((type) => findDefinition(type).name),
    ).toEqual(["general-purpose", "general-purpose", "Explore", "Explore", "Plan"]);
  });

  it("takes the last of several with one name, and a definition before an alias", () => {
    const all = [
      ...builtinDefinitions,
      { ...base, name: "explore", model: "mine" },
      { ...base, name: "general" },
    ];
    expect(findDefinition("Explore", all).model).toBe("mine");
    expect(findDefinition("general", all).name).toBe("general");
    expect(inForce(all).map(({ name }) => name)).toEqual(["general-purpose", "explore", "Plan", "general"]);
  });

  it("lists what there is where there is no such type", () => {
    expect(() => findDefinition("rewiever")).toThrow('there is no agent type "rewiever"');
    try {
      findDefinition("constructor");
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ kind: "usage", remedy: "one of: general-purpose, Explore, Plan" });
    }
  });
});

describe("builtinDefinitions", () => {
  it("are as people know them", () => {
    const table = builtinDefinitions.map(({ name, model, readOnly, omitClaudeMd, oneShot }) => [
      name,
      model,
      readOnly,
      omitClaudeMd,
      oneShot,
    ]);
    expect(table).toEqual([
      ["general-purpose", "inherit", false, false, false],
      ["Explore", "haiku", true, true, true],
      ["Plan", "inherit", true, true, true],
    ]);
    expect(findDefinition("Plan").prompt).toContain("Critical Files for Implementation");
  });
});
