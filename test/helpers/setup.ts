// Every test file starts without the caller's team, terminal multiplexer, credentials and proxies, and with a home
// directory of its own, so that no test reaches a real session, a person's settings, a paid model or the network.
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";

for (const name of Object.keys(process.env))
  if (
    /^(TROUPE_|TMUX|ANTHROPIC_|CI$|ITERM_|TERM_PROGRAM|LC_TERMINAL|HTTPS?_PROXY|https?_proxy|GIT_|XDG_)/.test(
      name,
    ) &&
    name !== "TROUPE_TMUX"
  )
    delete process.env[name];

const home = path.join(os.tmpdir(), `troupe-home-${randomUUID()}`);
Object.assign(process.env, {
  HOME: home,
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.org",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.org",
});
// Neither runs where every test of a file is left out.
beforeAll(() => void fs.mkdirSync(home, { mode: 0o700 }));
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));
