import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type EventHub, namesIn, openEventHub } from "../../src/team/event-hub.js";
import type { TeamEvent } from "../../src/team/events.js";
import { temporaryDirectory } from "../helpers/temp.js";

function openHub(): { hub: EventHub; file: string; lines(): unknown[] } {
  const file = path.join(temporaryDirectory(), "events.ndjson");
  return { hub: openEventHub(file), file, lines: () => linesOf(file) };
}

function linesOf(file: string): unknown[] {
  return fs
    .readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const say = (hub: EventHub, name: string, text: string): void =>
  hub.emit({ type: "agent", name, event: { type: "text", text } });

const note = (hub: EventHub, text: string, name?: string): void =>
  hub.emit({ type: "notice", level: "info", text, ...(name === undefined ? {} : { name }) });

describe("openEventHub", () => {
  it("records one line per event, with version and time, for its owner alone", () => {
    const { hub, file, lines } = openHub();
    note(hub, "one\ntwo");
    hub.emit({ type: "team-ended", reason: "down" });
    expect(lines()).toEqual([
      { v: 1, at: expect.stringMatching(/^\d{4}-.*Z$/), type: "notice", level: "info", text: "one\ntwo" },
      { v: 1, at: expect.any(String), type: "team-ended", reason: "down" },
    ]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  it("takes over another process's event with its own time", () => {
    const { hub, lines } = openHub();
    const event: TeamEvent = { at: "2026-01-01T00:00:00.000Z", type: "result", from: "ada", text: "x" };
    hub.relay(event);
    expect(hub.backlog()).toEqual([event]);
    expect(lines()).toEqual([{ v: 1, ...event }]);
  });

  it("leaves streamed text and a command's output out of the record", () => {
    const { hub, lines } = openHub();
    say(hub, "ada", "hel");
    hub.emit({ type: "agent", name: "ada", event: { type: "text-end" } });
    hub.emit({ type: "output", name: "tests", line: "ok" });
    note(hub, "kept");
    expect(lines()).toMatchObject([{ text: "kept" }]);
    expect(hub.backlog()).toHaveLength(4);
  });

  it("keeps the latest 200 of all, and of each member", () => {
    const { hub } = openHub();
    note(hub, "of ada", "ada");
    for (let i = 1; i <= 250; i++) note(hub, `${i}`, "bob");
    expect(hub.backlog()).toHaveLength(200);
    expect(hub.backlog("bob").map((event) => "text" in event && event.text)).toEqual(
      Array.from({ length: 200 }, (_, i) => `${i + 51}`),
    );
    expect(hub.backlog("ada")).toMatchObject([{ text: "of ada" }]);
    expect(hub.backlog("nobody")).toEqual([]);
  });

  it("joins pieces of text that follow each other, without changing what listeners got", () => {
    const { hub } = openHub();
    const heard: TeamEvent[] = [];
    hub.listen((event) => heard.push(event));
    for (const piece of ["hel", "lo"]) say(hub, "ada", piece);
    say(hub, "bob", "x");
    say(hub, "ada", "!");
    const texts = (events: readonly TeamEvent[]) =>
      events.map((event) => event.type === "agent" && event.event.type === "text" && event.event.text);
    expect(texts(hub.backlog())).toEqual(["hello", "x", "!"]);
    expect(texts(hub.backlog("ada"))).toEqual(["hello!"]);
    expect(texts(heard)).toEqual(["hel", "lo", "x", "!"]);
  });

  it("gives a copy of the backlog", () => {
    const { hub } = openHub();
    note(hub, "a");
    (hub.backlog() as TeamEvent[]).pop();
    expect(hub.backlog()).toHaveLength(1);
  });

  it("has an event once for a member that it names twice", () => {
    const { hub } = openHub();
    const mail = { type: "mail", id: "m", kind: "text", summary: "", text: "" } as const;
    hub.emit({ ...mail, from: "ada", to: "ada" });
    hub.emit({ ...mail, from: "ada", to: "bob" });
    expect(hub.backlog("ada")).toHaveLength(2);
    expect(hub.backlog("bob")).toHaveLength(1);
  });

  it("ends a listener that throws, says so, and still tells the others", () => {
    const { hub, lines } = openHub();
    const heard: string[] = [];
    hub.listen(() => {
      throw new Error("broken view");
    });
    const stop = hub.listen((event) => void (event.type === "notice" && heard.push(event.text)));
    note(hub, "first");
    note(hub, "second");
    stop();
    note(hub, "third");
    expect(heard.sort()).toEqual(["a viewer of the team's events failed: broken view", "first", "second"]);
    expect(lines()).toHaveLength(4);
  });

  it("begins a new line after a torn one", () => {
    const file = path.join(temporaryDirectory(), "events.ndjson");
    fs.writeFileSync(file, '{"v":1,"type":"notice"}\n{"v":1,"ty');
    note(openEventHub(file), "after");
    note(openEventHub(file), "again");
    const [whole, torn, ...later] = fs.readFileSync(file, "utf8").trimEnd().split("\n");
    expect([whole, torn]).toEqual(['{"v":1,"type":"notice"}', '{"v":1,"ty']);
    expect(later.map((line) => JSON.parse(line).text)).toEqual(["after", "again"]);
  });

  it("begins the record anew where it has grown large, and keeps the part before", () => {
    const file = path.join(temporaryDirectory(), "events.ndjson");
    const hub = openEventHub(file, 300);
    const textsIn = (name: string) =>
      fs
        .readFileSync(name, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).text);
    for (let n = 0; n < 20; n++) note(hub, `note ${n}`);
    const kept = [...textsIn(`${file}.1`), ...textsIn(file)];
    expect(kept).toEqual(
      Array.from({ length: kept.length }, (_, index) => `note ${20 - kept.length + index}`),
    );
    for (const name of [file, `${file}.1`]) expect(fs.statSync(name).size).toBeLessThan(500);
  });

  it("goes on where the record cannot be written, and says so once per outage", () => {
    const { hub, file, lines } = openHub();
    const warnings: string[] = [];
    hub.listen(
      (event) => void (event.type === "notice" && event.level === "warning" && warnings.push(event.text)),
    );
    const breakIt = () => {
      fs.rmSync(file, { force: true });
      fs.mkdirSync(file);
    };
    breakIt();
    for (const text of ["a", "b"]) note(hub, text);
    expect(warnings).toEqual([expect.stringMatching(/^events are not recorded in .*events\.ndjson: EISDIR/)]);
    expect(hub.backlog().map((event) => "text" in event && event.text)).toEqual([warnings[0], "a", "b"]);
    fs.rmdirSync(file);
    note(hub, "c");
    expect(lines()).toMatchObject([{ text: "c" }]);
    breakIt();
    note(hub, "d");
    expect(warnings).toHaveLength(2);
  });
});

describe("namesIn", () => {
  it("names whom an event is about", () => {
    const at = "";
    expect(namesIn({ at, type: "result", from: "ada", text: "" })).toEqual(["ada"]);
    expect(namesIn({ at, type: "notice", level: "info", text: "" })).toEqual([]);
    expect(namesIn({ at, type: "notice", level: "info", name: "bob", text: "" })).toEqual(["bob"]);
    expect(namesIn({ at, type: "team-ended", reason: "" })).toEqual([]);
    expect(namesIn({ at, type: "output", name: "tests", line: "" })).toEqual(["tests"]);
  });
});
