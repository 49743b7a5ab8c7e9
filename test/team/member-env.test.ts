import { describe, expect, it } from "vitest";
import { memberEnv, toolEnv } from "../../src/team/member-env.js";

describe("memberEnv", () => {
  it("leaves out what belongs to another team, to the caller's terminal or to the program that called", () => {
    expect(
      memberEnv({
        PATH: "/bin",
        HOME: "/home/x",
        LANG: "C",
        TMUX: "/tmp/s,1,0",
        TMUX_PANE: "%1",
        ITERM_SESSION_ID: "w0",
        TERM_SESSION_ID: "w0",
        ITERM2_COOKIE: "c",
        ITERM2_KEY: "k",
        TROUPE_TEAM: "other",
        TROUPE_KEY_FILE: "/k",
        TROUPE_HOME: "/h",
        CLAUDECODE: "1",
        CLAUDE_CODE_ENTRYPOINT: "cli",
        UNSET: undefined,
      }),
    ).toEqual({ PATH: "/bin", HOME: "/home/x", LANG: "C" });
  });

  it("keeps names that only look alike, and the model's credentials", () => {
    const kept = {
      MY_TMUX: "1",
      TMUX_TMPDIR: "/t",
      XTROUPE_X: "1",
      CLAUDE_X: "1",
      ANTHROPIC_API_KEY: "k",
      EMPTY: "",
    };
    expect(memberEnv(kept)).toEqual(kept);
  });
});

describe("toolEnv", () => {
  const env = {
    PATH: "/bin",
    TROUPE_AGENT_ID: "ada@demo",
    TROUPE_KEY_FILE: "/k",
    ANTHROPIC_API_KEY: "secret",
    ANTHROPIC_AUTH_TOKEN: "secret",
    ANTHROPIC_BASE_URL: "http://127.0.0.1",
  };

  it("keeps the model's credentials from what an agent's tools start", () => {
    expect(JSON.stringify(toolEnv(env, "teammate"))).not.toContain("secret");
    expect(toolEnv(env, "teammate")).toMatchObject({ TROUPE_KEY_FILE: "/k", PATH: "/bin" });
  });

  it("keeps the lead's key from them too, since it carries authority", () => {
    expect(toolEnv(env, "lead")).toEqual({
      PATH: "/bin",
      TROUPE_AGENT_ID: "ada@demo",
      ANTHROPIC_BASE_URL: "http://127.0.0.1",
    });
  });
});
