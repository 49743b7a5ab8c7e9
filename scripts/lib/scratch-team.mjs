import fs from "node:fs";
import path from "node:path";

/**
 * A team on disk that nobody runs, by default with the members `user` and `quiet`: enough for mail, and nothing happens
 * in it that the caller has not caused. `home` is made; the caller removes it.
 * @param {string} home
 * @param {typeof import("../../mailbox/index.js")} mailbox the built package
 * @param {readonly string[]} members
 */
export async function createScratchTeam(home, mailbox, members = ["user", "quiet"]) {
  const root = path.join(home, "teams/scratch-000000");
  const at = new Date().toISOString();
  fs.mkdirSync(path.join(root, "members"), { recursive: true, mode: 0o700 });
  writeJson(path.join(root, "team.json"), {
    v: 1,
    name: "scratch",
    projectRoot: home,
    lead: "user",
    backend: { type: "in-process", reason: "scratch" },
    createdAt: at,
  });
  for (const [order, name] of members.entries()) {
    writeJson(path.join(root, `members/${name}.json`), {
      v: 1,
      id: `0000000${order}`,
      order,
      name,
      agentId: `${name}@scratch`,
      kind: name === "user" ? "user" : "command",
      what: "sleep 60",
      colour: "blue",
      service: false,
      incarnation: `0000000${order}`,
      publicKey: "",
      state: "working",
      since: at,
    });
    await mailbox.createMailbox(path.join(root, "mail", name));
  }
  return {
    root,
    /** @param {string} name */
    mailboxOf: (name) => path.join(root, "mail", name),
    /** What `troupe` needs to find this team, and nothing of the caller's. */
    env: { PATH: process.env.PATH, HOME: home, TROUPE_HOME: home, TROUPE_TEAM: "scratch" },
  };
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  fs.writeFileSync(file, `${JSON.stringify(value)}\n`, { mode: 0o600 });
}
