import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createPostman, type Postman } from "../../src/team/postman.js";
import { memberFile, readMember, writeRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { trustedSender } from "../../src/team/trusted-sender.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

const postman = (team: LivingTeam, from = "ada"): Postman =>
  createPostman({ team, from, privateKey: team.key(from) });

describe("send", () => {
  it("stores a sealed message with all its fields", async () => {
    const team = await makeLivingTeam();
    const [posted] = await postman(team).send("BOB", { kind: "haiku", text: "t", summary: "s", lines: 3 });
    const [message] = team.mailOf("bob");
    expect(posted).toEqual({ to: "bob", id: message?.id, stored: true });
    expect(message).toMatchObject({
      v: 1,
      from: "ada",
      to: "bob",
      kind: "haiku",
      text: "t",
      summary: "s",
      lines: 3,
    });
    expect(trustedSender(message!, team, "bob")).toBe("ada");
  });

  it("keeps the order of the calls, to each recipient, awaited or not", async () => {
    const team = await makeLivingTeam();
    const { send } = postman(team);
    const texts = Array.from({ length: 60 }, (_, i) => `${i}`);
    await Promise.all(texts.flatMap((text) => ["bob", "user"].map((to) => send(to, { kind: "text", text }))));
    for (const to of ["bob", "user"]) expect(team.mailOf(to).map(({ text }) => text)).toEqual(texts);
  });

  it("broadcasts to everybody but the sender, as one message", async () => {
    const team = await makeLivingTeam({ agents: ["ada", "bob", "Cid"] });
    const posted = await postman(team).send("*", { kind: "text", text: "all" });
    expect(posted.map(({ to }) => to)).toEqual(["user", "bob", "Cid"]);
    expect(new Set(posted.map(({ id }) => id)).size).toBe(1);
    for (const { to, id } of posted) expect(team.mailOf(to)).toMatchObject([{ id, to: "*", text: "all" }]);
    expect(team.mailOf("ada")).toEqual([]);
  });

  it("keeps a broadcast among single messages in its order", async () => {
    const team = await makeLivingTeam();
    const { send } = postman(team);
    await Promise.all(
      ["bob", "*", "bob", "*", "bob"].map((to, i) => send(to, { kind: "text", text: `${i}` })),
    );
    expect(team.mailOf("bob").map(({ text }) => text)).toEqual(["0", "1", "2", "3", "4"]);
    expect(team.mailOf("user").map(({ text }) => text)).toEqual(["1", "3"]);
  });

  it("tells of a recipient that a broadcast did not reach, without failing the others", async () => {
    const team = await makeLivingTeam({ agents: ["ada", "bob", "cid"] });
    fs.rmSync(mailboxOf(team.paths, "bob"), { recursive: true });
    const posted = await postman(team).send("*", { kind: "text", text: "x" });
    expect(posted).toMatchObject([
      { to: "user", stored: true },
      { to: "bob", stored: false, note: expect.stringMatching(/^not stored for bob: /) },
      { to: "cid" },
    ]);
    expect(team.mailOf("cid")).toHaveLength(1);
  });

  it("fails where a broadcast reached nobody", async () => {
    const team = await makeLivingTeam({ agents: ["ada"] });
    fs.rmSync(mailboxOf(team.paths, "user"), { recursive: true });
    await expect(postman(team).send("*", { kind: "text", text: "x" })).rejects.toMatchObject({
      code: "no-mailbox",
    });
  });

  it("notes who reads no mail, or only later", async () => {
    const team = await makeLivingTeam();
    const bob = readMember(team.paths, "bob")!;
    await writeRecord(memberFile(team.paths, "bob"), { ...bob, kind: "command" });
    const { send } = postman(team);
    expect(await send("bob", { kind: "text", text: "x" })).toMatchObject([
      { note: "bob is a command and reads mail only by troupe inbox" },
    ]);
    await writeRecord(memberFile(team.paths, "bob"), { ...bob, kind: "command", input: "terminal" });
    const [typed] = await send("bob", { kind: "text", text: "x" });
    expect(typed).not.toHaveProperty("note");
    await writeRecord(memberFile(team.paths, "bob"), { ...bob, state: "ended", reason: "failed" });
    expect(await send("bob", { kind: "text", text: "x" })).toMatchObject([
      { note: "bob has ended (failed); its mail waits" },
    ]);
    expect(team.mailOf("bob")).toHaveLength(3);
  });
});

describe("names", () => {
  it("that nobody has are refused with the nearest, and nothing is created", async () => {
    const team = await makeLivingTeam();
    const before = fs.readdirSync(team.paths.mail).sort();
    const { send, resolve } = postman(team);
    for (const name of ["bobb", "../bob", "", "x".repeat(300), "bobb@demo", "ada\0", "."])
      await expect(async () => send(name, { kind: "text", text: "x" })).rejects.toMatchObject({
        code: "no-member",
        kind: "not-found",
      });
    expect(() => resolve("bobb")).toThrow(expect.objectContaining({ remedy: "did you mean bob?" }));
    expect(fs.readdirSync(team.paths.mail).sort()).toEqual(before);
    expect(fs.readdirSync(path.dirname(team.paths.mail))).not.toContain("bob");
  });

  it("are spelt as in the record; lead is the user where the user leads", async () => {
    const team = await makeLivingTeam({ agents: ["Ada", "Bob"] });
    const { resolve } = createPostman({ team, from: "Ada", privateKey: team.key("Ada") });
    expect(["bob", "LEAD", "user", "*"].map(resolve)).toEqual(["Bob", "user", "user", "*"]);
    const led = await makeLivingTeam({ lead: "lead", agents: ["lead", "ada"] });
    expect(postman(led).resolve("Lead")).toBe("lead");
  });
});
