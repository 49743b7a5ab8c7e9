import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkBackends, checkChoices } from "../../../src/cli/doctor/backends.js";
import { temporaryDirectory } from "../../helpers/temp.js";

describe("what doctor says of tmux", () => {
  it("is about the one that TROUPE_TMUX names", async () => {
    const file = path.join(temporaryDirectory(), "another");
    fs.writeFileSync(file, "#!/bin/sh\necho tmux 3.1c\n", { mode: 0o755 });
    const env = { PATH: process.env["PATH"], TROUPE_TMUX: file };
    const [tmux] = await checkBackends(env);
    expect(tmux).toMatchObject({
      subject: "tmux",
      state: "absent",
      code: "tmux-too-old",
      version: "tmux 3.1c",
    });
    const [up] = await checkChoices({ env, stdinIsTerminal: true, stderrIsTerminal: true });
    expect(up).toMatchObject({ text: expect.stringContaining("in-process: tmux 3.1c is installed") });
  });
});
