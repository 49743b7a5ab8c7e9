import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import * as mailbox from "../../mailbox/index.js";
import { createScratchTeam } from "../../scripts/lib/scratch-team.mjs";
import { traceCalls } from "../../scripts/lib/strace.mjs";
import { durabilityFaults, parseTrace } from "../../scripts/lib/strace-log.mjs";
import { builtCommand } from "../helpers/built.js";
import { temporaryDirectory } from "../helpers/temp.js";

const onLinux = it.runIf(process.platform === "linux");
const ids = ["ordered-1", "ordered-2", "ordered-3"];

const order =
  "a message is told as stored after write, fsync, link and fsync of the directory, in this order";

describe(order, { timeout: 300_000 }, () => {
  onLinux.each([
    ["one", "user", ["user"]],
    ["everybody", "*", ["first", "second"]],
  ])("by troupe send to %s", async (_, to, recipients) => {
    const command = await builtCommand();
    const home = temporaryDirectory();
    const team = await createScratchTeam(home, mailbox, ["user", "first", "second"]);
    const argv = [process.execPath, command, "send", to, "text", "--id", "ordered-1"];
    const calls = await traceCalls({ argv, env: team.env }, path.join(home, "log"));
    for (const name of recipients)
      expect(durabilityFaults(calls, team.mailboxOf(name), "ordered-1")).toEqual([]);
  });

  onLinux("by the library, for each of several messages at once", async () => {
    const command = await builtCommand();
    const home = temporaryDirectory();
    const dir = path.join(home, "mail");
    await mailbox.createMailbox(dir);
    const script = path.join(import.meta.dirname, "../../scripts/lib/fault-send-program.mjs");
    const library = pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href;
    const argv = [process.execPath, script, library, dir, ...ids];
    const calls = await traceCalls({ argv, env: { PATH: process.env["PATH"] } }, path.join(home, "log"));
    expect(ids.flatMap((id) => durabilityFaults(calls, dir, id))).toEqual([]);
  });
});

describe("the check of that order", () => {
  const steps = {
    create:
      'openat(AT_FDCWD, "/m/tmp/ordered-1.abc.json", O_WRONLY|O_CREAT|O_EXCL, 0600) = 17</m/tmp/ordered-1.abc.json>',
    write: 'write(17</m/tmp/ordered-1.abc.json>, "{}", 2) = 2',
    sync: "fsync(17</m/tmp/ordered-1.abc.json>) = 0",
    link: 'link("/m/tmp/ordered-1.abc.json", "/m/new/ordered-1.json") = 0',
    syncDirectory: "fsync(18</m/new>) = 0",
    tell: 'write(1<pipe:[1]>, "ordered-1\\n", 10) = 10',
  };
  const { create, write, sync, link, syncDirectory, tell } = steps;
  const check = (lines: readonly string[]) =>
    durabilityFaults(
      parseTrace(lines.map((line) => (/^\d/.test(line) ? line : `7 ${line}`)).join("\n")),
      "/m",
      "ordered-1",
    );

  it("is content with the right one, on one thread or several", () => {
    expect(check(Object.values(steps))).toEqual([]);
    const threaded = [
      create,
      write,
      `8 ${sync.replace(") = 0", " <unfinished ...>")}`,
      "7 write(5<x>, 1) = 1",
    ];
    expect(check([...threaded, "8 <... fsync resumed>) = 0", link, syncDirectory, tell])).toEqual([]);
  });

  it.each([
    ["without fsync of the file", [create, write, link, syncDirectory, tell]],
    ["without fsync of the directory", [create, write, sync, link, tell]],
    ["linked before the fsync", [create, write, link, sync, syncDirectory, tell]],
    ["directory fsynced before the link", [create, write, sync, syncDirectory, link, tell]],
    ["told before the fsync of the directory", [create, write, sync, link, tell, syncDirectory]],
    ["written again after the fsync", [create, write, sync, write, link, syncDirectory, tell]],
    ["fsync failed", [create, write, sync.replace("= 0", "= -1 EIO (x)"), link, syncDirectory, tell]],
    [
      "linked while the fsync was not over",
      [
        create,
        write,
        "8 fsync(17</m/tmp/ordered-1.abc.json> <unfinished ...>",
        link,
        "8 <... fsync resumed>) = 0",
        syncDirectory,
        tell,
      ],
    ],
  ])("finds: %s", (_, lines) => {
    expect(check(lines)).toHaveLength(1);
  });
});
