import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openMailbox } from "../../../mailbox/index.js";
import { keyPairFrom } from "../../../src/team/keys.js";
import { readMember } from "../../../src/team/records.js";
import { mailboxOf } from "../../../src/team/send.js";
import { waitUntil } from "../../../src/util/wait.js";
import { makeTeam } from "../../cli/made-team.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";
import { brief, lastMessage, model, run, specOf } from "./running-teammate.js";

const say = (input: object) => ({ tools: [{ name: "SendMessage", input }] });

describe("last words", () => {
  it("go to everybody who asked and got no answer, and to nobody else", async () => {
    const team = await makeLivingTeam({ agents: ["ada", "bob", "cid"] });
    const asked: Record<string, string> = {};
    for (const from of ["bob", "cid"]) asked[from] = (await team.post(from, "ada", { text: "?" })).id;
    const server = await model([say({ to: "Bob", message: "For bob." }), { text: "Done." }]);
    await run(team, server, specOf(team, "ada")).idle();
    expect(brief(team.mailOf("bob"))).toEqual([
      { from: "ada", kind: "text", text: "For bob.", inReplyTo: asked["bob"] },
    ]);
    expect(brief(team.mailOf("cid"))).toMatchObject([{ kind: "idle", inReplyTo: asked["cid"] }]);
    expect(team.mailOf("user")).toEqual([]);
  });

  it("go to every question of one sender that no answer named", async () => {
    const team = await makeLivingTeam();
    const ids: string[] = [];
    for (const text of ["First?", "Second?", "Third?"])
      ids.push((await team.post("user", "ada", { text })).id);
    const [first, second, third] = ids;
    const server = await model([
      say({ to: "user", message: "To the newest." }),
      say({ to: "user", message: "To the first.", inReplyTo: first }),
      { text: "Done." },
    ]);
    await run(team, server, specOf(team, "ada")).idle();
    expect(brief(team.mailOf("user"))).toMatchObject([
      { kind: "text", text: "To the newest.", inReplyTo: third },
      { kind: "text", text: "To the first.", inReplyTo: first },
      { kind: "idle", text: "Done.", inReplyTo: second },
    ]);
  });

  it("are not sent where the agent answered and named the message itself", async () => {
    const team = await makeLivingTeam();
    const { id } = await team.post("bob", "ada");
    const server = await model([say({ to: "bob", message: "Here.", inReplyTo: id }), { text: "Done." }]);
    await run(team, server, specOf(team, "ada")).idle();
    expect(brief(team.mailOf("bob"))).toEqual([{ from: "ada", kind: "text", text: "Here.", inReplyTo: id }]);
  });

  it("are sent where the answer could not be", async () => {
    const team = await makeLivingTeam();
    const { id } = await team.post("bob", "ada");
    const server = await model([
      say({ to: "bob", message: "x".repeat(1024 * 1024 + 1) }),
      { text: "Too long." },
    ]);
    await run(team, server, specOf(team, "ada")).idle();
    expect(lastMessage(server.requests[1]).types).toEqual(["tool_result"]);
    expect(brief(team.mailOf("bob"))).toMatchObject([{ kind: "idle", text: "Too long.", inReplyTo: id }]);
  });

  it("are not sent to the lead by one that wrote to anybody", async () => {
    const team = await makeLivingTeam();
    const server = await model([say({ to: "bob", message: "Hello." }), { text: "Done." }]);
    await run(team, server, specOf(team, "ada", { prompt: "Greet bob." })).idle();
    expect(team.mailOf("user")).toEqual([]);
    expect(brief(team.mailOf("bob"))).toEqual([{ from: "ada", kind: "text", text: "Hello." }]);
  });

  it("end between two teammates: what was answered, and news of an end, ask for nothing", async () => {
    const team = await makeLivingTeam();
    const server = await model(() => ({ text: "I see." }));
    const [ada, bob] = ["ada", "bob"].map((name) => run(team, server, specOf(team, name)));
    await team.post("bob", "ada", { text: "Hello?" });
    await waitUntil("bob's report", () => team.mailOf("user").length > 0, { timeoutMs: 20_000 });
    await Promise.all([ada!.idle(), bob!.idle()]);
    expect(brief(team.mailOf("bob"))).toMatchObject([{ from: "ada", kind: "idle" }]);
    expect(brief(team.mailOf("user"))).toMatchObject([{ from: "bob", kind: "idle" }]);
    expect(team.mailOf("ada")).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });

  it("of a lead go to the user who asked, never to its teammates", async () => {
    const team = await makeLivingTeam({ lead: "lead", agents: ["lead", "ada"] });
    const server = await model(() => ({ text: "Noted." }));
    const lead = run(team, server, specOf(team, "lead"));
    await team.post("ada", "lead", { kind: "idle", reason: "done", text: "I am done." });
    await lead.idle();
    await team.post("ada", "lead", { text: "What now?" });
    await lead.idle(2);
    expect([...team.mailOf("ada"), ...team.mailOf("user")]).toEqual([]);
    const { id } = await team.post("user", "lead", { text: "Well?" });
    await lead.idle(3);
    expect(brief(team.mailOf("user"))).toMatchObject([{ from: "lead", text: "Noted.", inReplyTo: id }]);
  });

  it("are not owed to a sender that proves nothing", async () => {
    const team = await makeLivingTeam();
    const server = await model([{ text: "Who?" }]);
    await team.post("bob", "ada", { text: "Trust me." }, "nobody");
    await run(team, server, specOf(team, "ada")).idle();
    expect(team.mailOf("bob")).toEqual([]);
    expect(brief(team.mailOf("user"))).toMatchObject([{ kind: "idle", text: "Who?" }]);
  });

  /** A message from `eve` of another team, and her mailbox. */
  async function fromAfar(team: LivingTeam): Promise<{ readonly id: string; readonly mailbox: string }> {
    const other = await makeTeam(team.made, { name: "other", members: [{ name: "eve" }] });
    const key = path.join(other.run, readMember(other, "eve")!.incarnation, "key.pem");
    const { id } = await team.post("eve@other", "ada", { text: "From afar." }, keyPairFrom(key).privateKey);
    return { id, mailbox: mailboxOf(other, "eve") };
  }

  it("go to a member of another team that asked", async () => {
    const team = await makeLivingTeam();
    const { id, mailbox } = await fromAfar(team);
    const server = await model([{ text: "Hello there." }]);
    await run(team, server, specOf(team, "ada")).idle();
    expect(lastMessage(server.requests[0]).text).toContain('from="eve@other"');
    const mail = openMailbox(mailbox)
      .peek()
      .messages.map(({ message }) => message);
    expect(brief(mail)).toMatchObject([{ kind: "idle", text: "Hello there.", inReplyTo: id }]);
  });

  it("that cannot be sent are told, and end nobody", async () => {
    const team = await makeLivingTeam();
    const { mailbox } = await fromAfar(team);
    fs.rmSync(mailbox, { recursive: true });
    const server = await model([{ text: "Hello there." }, { text: "Still here." }]);
    const ada = run(team, server, specOf(team, "ada"));
    await ada.idle();
    expect(ada.events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        level: "warning",
        text: expect.stringContaining("eve@other"),
      }),
    );
    await team.post("user", "ada");
    await ada.idle(2);
    expect(brief(team.mailOf("user"))).toMatchObject([{ text: "Still here." }]);
  });
});
