import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands/index.js";
import { runLine } from "./run-line.js";

describe("the program", () => {
  it("prints an overview of the commands that people start", async () => {
    for (const argv of [[], ["--help"], ["help"]]) {
      const { exitCode, stdout } = await runLine(argv);
      expect(exitCode).toBe(0);
      for (const command of commands)
        if (command.hidden) expect(stdout).not.toMatch(new RegExp(`^  ${command.name}\\b`, "m"));
        else expect(stdout).toMatch(new RegExp(`^  ${command.name}\\b`, "m"));
    }
  });

  it.each(commands.map((command) => command.name))(
    "explains %s, with an example unless it is hidden",
    async (name) => {
      const { exitCode, stdout } = await runLine([name, "--help"]);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`Usage: troupe ${name}`);
      expect(stdout).toContain("--json");
      expect((await runLine(["help", name])).stdout).toBe(stdout);
      if (!commands.find((command) => command.name === name)?.hidden) expect(stdout).toContain("Examples:");
    },
  );

  it.each([
    [["sed"], "unknown command sed", "did you mean send?"],
    [["help", "statu"], "unknown command statu", "did you mean status?"],
    [
      ["send", "q", "x", "--sumary", "y"],
      "unknown option --sumary of troupe send",
      "did you mean --summary?",
    ],
    [["send", "q", "x", "--team.x", "y"], "unknown option --team.x", "--team?"],
    [["inbox", "--no-json"], "unknown option --no-json", ""],
    [["inbox", "-z"], "unknown option -z of troupe inbox", "troupe inbox --help"],
    [["send"], "TO is missing", "troupe send TO [TEXT]"],
    [["send", "q", "a", "b"], '"b" is one argument too many', ""],
    [["send", "q", "x", "--wait"], "wait", ""],
    [["send", "q", "x", "--wait", "soon"], "not one of stored, delivered, seen, replied", ""],
    [["send", "q", "x", "--timeout", "soon"], "not a time such as", ""],
    [["send", "q", "x", "--id", "a", "--id", "b"], "--id is given 2 times", ""],
    [["logs"], "give a NAME or --host", ""],
    [["logs", "q", "--host"], "give a NAME or --host", ""],
  ])("answers %j with exit code 2", async (argv, message, remedy) => {
    const { exitCode, error, stdout } = await runLine(argv);
    expect(exitCode).toBe(2);
    expect(error?.message).toContain(message);
    expect(error?.remedy).toContain(remedy);
    expect(stdout).toBe("");
  });

  it("takes shared options before the command, too", async () => {
    const { error } = await runLine(["--team", "demo", "--json", "status"], {
      env: { TROUPE_HOME: "/nonexistent" },
    });
    expect(error).toMatchObject({ code: "no-team", message: 'no team named "demo"' });
  });
});
