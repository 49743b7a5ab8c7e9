import { expect, it } from "vitest";
import { counted, durationWords, modelLabel, stateWords, tokenWords } from "../../src/ui/words.js";

it.each([
  [0, "0.0 s"],
  [320, "0.3 s"],
  [9_949, "9.9 s"],
  [9_960, "10 s"],
  [59_600, "1 min"],
  [185_000, "3 min 5 s"],
  [3_600_000, "1 h"],
  [7_800_000, "2 h 10 min"],
  [273_600_000, "3 d 4 h"],
  [-5, "0.0 s"],
])("%i ms are %s", (ms, words) => expect(durationWords(ms)).toBe(words));

it.each([
  [0, "0"],
  [999, "999"],
  [12_345, "12.3k"],
  [999_949, "999.9k"],
  [999_951, "1.0M"],
])("%i tokens are %s", (count, words) => expect(tokenWords(count)).toBe(words));

it("tells a state with why", () => {
  expect(stateWords({ state: "working" })).toBe("working");
  expect(stateWords({ state: "idle", reason: "waiting-mail" })).toBe("idle (waiting-mail)");
  expect(stateWords({ state: "ended", reason: "failed", detail: "exit\ncode 3" })).toBe(
    "ended (failed): exit code 3",
  );
});

it("never shows a scripted model as a real one", () => {
  expect(modelLabel("offline")).toBe("offline (scripted)");
  expect(modelLabel("opus", true)).toBe("opus (scripted)");
  expect(modelLabel("offline (scripted)", true)).toBe("offline (scripted)");
  expect(modelLabel("opus", false)).toBe("opus");
});

it("counts", () =>
  expect([counted(1, "file"), counted(2, "process", "processes")]).toEqual(["1 file", "2 processes"]));
