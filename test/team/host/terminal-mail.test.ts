import { describe, expect, it, onTestFinished } from "vitest";
import type { SubmitOutcome } from "../../../backends/types.js";
import type { Message } from "../../../mailbox/index.js";
import type { HostContext } from "../../../src/team/host/context.js";
import { typeTerminalMail } from "../../../src/team/host/terminal-mail.js";
import { TroupeError } from "../../../src/util/errors.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

type Submit = (text: string, signal?: AbortSignal) => Promise<SubmitOutcome>;

/** The member `ada`, a command that reads its terminal, for whose typing `submit` stands in. */
async function setUp(submit: Submit = async () => ({ outcome: "submitted" })) {
  const team = await makeLivingTeam({ agents: ["ada", "bob"] });
  const plain = await hostContext(team);
  const typed: string[] = [];
  const screen: { text: string; failures: Error[] } = { text: "", failures: [] };
  const killed: string[] = [];
  const executor = {
    ...plain.executors.own,
    capture: async () => {
      const failure = screen.failures.shift();
      if (failure !== undefined) throw failure;
      return screen.text;
    },
    kill: async (agentId: string) => {
      killed.push(agentId);
      return { found: [], ended: [], survivors: [] };
    },
    submitText: (_agentId: string, text: string, signal?: AbortSignal) => {
      typed.push(text);
      return submit(text, signal);
    },
  };
  const context: HostContext = { ...plain, executorFor: () => executor };
  const close = typeTerminalMail(context);
  onTestFinished(close);
  const ada = { ...team.member("ada"), kind: "command", input: "terminal", state: "starting" } as const;
  await context.roster.put(ada);
  const now = () => ({ since: new Date().toISOString() });
  const set = (state: "working" | "stopping" | "ended") =>
    context.roster.setState("ada", ada.incarnation, { state, ...now() });
  const warnings = () =>
    plain.events.flatMap((event) =>
      event.type === "notice" && event.level === "warning" && event.name === "ada" ? [event.text] : [],
    );
  return { team, context, ada, set, screen, typed, killed, close, warnings };
}

const bodies = (typed: readonly string[]) => typed.map((text) => text.replace(/^\[.*?\] /, ""));

describe("mail to a program that reads its terminal", () => {
  it("is typed once it works, in order, and acknowledged when it was submitted", async () => {
    const { team, set, typed, warnings } = await setUp();
    await team.post("user", "ada", { text: "one" });
    await team.post("bob", "ada", { text: "two" });
    await team.post("bob", "ada", { text: "three" }, "nobody");
    expect(team.counts("ada")).toMatchObject({ new: 3 });
    set("working");
    await until(() => team.counts("ada").done === 3, "all are seen");
    expect(bodies(typed)).toEqual(["one", "two", "three"]);
    expect(typed[2]).toMatch(/^\[message from external:bob, /);
    expect(warnings()).toEqual([]);
  });

  it("is taken only when its turn has come, and what is not typed stays for the next start", async () => {
    let finish: (outcome: SubmitOutcome) => void = () => undefined;
    const { team, set, typed, close } = await setUp(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    await team.post("user", "ada", { text: "one" });
    await team.post("user", "ada", { text: "two" });
    set("working");
    await until(() => typed.length === 1, "the first is typed");
    expect(team.counts("ada")).toEqual({ new: 1, cur: 1, done: 0 });
    set("stopping");
    finish({ outcome: "submitted" });
    await close();
    expect(typed).toHaveLength(1);
    expect(team.counts("ada")).toEqual({ new: 1, cur: 0, done: 1 });
  });

  it("of which nothing proves that it was taken stays delivered, is told once and not typed again", async () => {
    const { team, context, set, screen, typed, warnings, close } = await setUp(async (text) =>
      text.endsWith("one") ? { outcome: "unknown", reason: "it did not show" } : { outcome: "submitted" },
    );
    const { id } = await team.post("user", "ada", { text: "one" });
    await team.post("user", "ada", { text: "two" });
    set("working");
    await until(() => warnings().length === 1, "the warning");
    // Nothing is piled up in a terminal that shows no answer.
    await team.post("user", "ada", { text: "three" });
    expect(bodies(typed)).toEqual(["one"]);
    expect(team.counts("ada")).toEqual({ new: 2, cur: 1, done: 0 });
    expect(context.roster.find("ada")).toMatchObject({
      state: "working",
      detail: expect.stringMatching(/^mail waits until .*: troupe attach ada$/),
    });
    screen.text = "something else";
    await until(() => team.counts("ada").done === 2, "the others are seen");
    expect(team.counts("ada")).toEqual({ new: 0, cur: 1, done: 2 });
    expect(warnings()).toEqual([
      `mail #${id} from user was typed and perhaps not taken: it did not show; it is not typed again, and later mail waits until the terminal of ada shows something else: troupe attach ada`,
    ]);
    expect(context.roster.find("ada")).not.toHaveProperty("detail");
    await close();
    expect(bodies(typed)).toEqual(["one", "two", "three"]);
    expect(team.counts("ada")).toMatchObject({ cur: 1 });
  });

  it("waits while nothing can be typed, is told once, and is put back where it never was", async () => {
    const { team, set, typed, warnings } = await setUp(async () => {
      throw new TroupeError("input-off", "ada: the input of its pane is switched off", {
        remedy: "select-pane -e",
      });
    });
    await team.post("user", "ada", { text: "one" });
    set("working");
    await until(() => typed.length === 2, "the second try");
    expect(warnings()).toEqual([expect.stringMatching(/waits: .*switched off \(select-pane -e\)$/)]);
    set("ended");
    await until(() => team.counts("ada").new === 1, "it is put back");
  });

  it("waits where the system fails for the moment, in typing and in looking, and is typed then", async () => {
    const failure = Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
    let fails = true;
    const { team, set, screen, typed, warnings } = await setUp(async () => {
      if (!fails) return { outcome: "submitted" };
      fails = false;
      throw failure;
    });
    screen.failures = [failure, new TroupeError("tmux-timeout", "tmux did not answer")];
    await team.post("user", "ada", { text: "one" });
    set("working");
    await until(() => team.counts("ada").done === 1, "it is seen");
    expect(bodies(typed)).toEqual(["one", "one"]);
    expect(warnings()).toEqual([expect.stringMatching(/waits: EMFILE/)]);
  });

  it("that asks it to shut down leads to its end, if it may", async () => {
    const { team, ada, set, typed, killed, warnings } = await setUp();
    const ask = (more: Partial<Message>) => ({
      kind: "shutdown-request",
      requestId: "r",
      incarnation: ada.incarnation,
      ...more,
    });
    set("working");
    await team.post("bob", "ada", ask({}));
    await team.post("user", "ada", ask({ incarnation: "00000000" }));
    await team.post("user", "ada", ask({ kind: "interrupt" }));
    await until(
      () => warnings().length === 3,
      "the refusals",
      () => warnings().join("\n"),
    );
    expect(warnings()).toEqual([
      expect.stringMatching(/no authority/),
      expect.stringMatching(/earlier start/),
      expect.stringMatching(/means nothing/),
    ]);
    expect(killed).toEqual([]);
    await team.post("user", "ada", ask({}));
    await until(() => killed.length === 1, "its end");
    expect(typed).toEqual([]);
    await until(() => team.counts("ada").done === 4, "all are seen");
  });
});
