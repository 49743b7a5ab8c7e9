import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ApiOptions, openApi } from "../../../backends/iterm2/api.js";
import { isTroupeError } from "../../../src/cli/failure.js";
import { identityOf, liveness } from "../../../src/util/process-identity.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { until } from "../../helpers/until.js";
import { emulatorOf } from "../../iterm2-emulator/api-client.js";
import type { Iterm2Emulator } from "../../iterm2-emulator/emulator.js";

function apiOf({ socket, osascript }: Iterm2Emulator, more: Partial<ApiOptions> = {}) {
  const api = openApi({ env: {}, socket, osascript, ...more });
  onTestFinished(api.disconnect);
  return api;
}

const list = "list_sessions";

describe("the API's client", () => {
  it("gets in with a cookie that it asks for, and keeps its one connection", async () => {
    const emulator = await emulatorOf();
    const api = apiOf(emulator);
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.ask("list", {})));
    expect(answers.every(({ windows }) => windows.length === 1)).toBe(true);
    expect(emulator.connections()).toBe(1);
  });

  it("takes the cookie of its environment, and asks for another where that is used up", async () => {
    const emulator = await emulatorOf();
    const env = { ITERM2_COOKIE: emulator.cookies.issue(), ITERM2_KEY: "key" };
    await apiOf(emulator, { env, osascript: "/nonexistent" }).ask("list", {});
    await expect(apiOf(emulator, { env, osascript: "/nonexistent" }).ask("list", {})).rejects.toMatchObject({
      code: "iterm2-no-permission",
    });
    await apiOf(emulator, { env }).ask("list", {});
    expect(emulator.connections()).toBe(2);
  });

  it("connects anew, with another cookie, after the connection ended, and asks again what may be asked twice", async () => {
    const emulator = await emulatorOf();
    const api = apiOf(emulator);
    await api.ask("list", {});
    let drops = 1;
    emulator.faults.before = (name) => {
      if (name === "notification" || drops-- <= 0) return undefined;
      emulator.drop();
      return "ignore";
    };
    expect((await api.ask("list", {})).windows).toHaveLength(1);
    expect(emulator.connections()).toBe(2);
    drops = 2;
    await expect(api.ask("list", {})).rejects.toMatchObject({ code: "iterm2-dropped" });
    drops = 1;
    const text = { session: emulator.session, text: "x", alone: true };
    await expect(api.ask("text", text)).rejects.toMatchObject({ code: "iterm2-dropped" });
    expect(emulator.requests.filter(({ name }) => name === "send_text")).toHaveLength(1);
  });

  it("waits no longer than it was told to, and takes a late answer for nobody's", async () => {
    const emulator = await emulatorOf();
    const api = apiOf(emulator, { answerMs: 200 });
    await api.ask("list", {});
    let go = () => {};
    const held = new Promise<undefined>((resolve) => {
      go = () => resolve(undefined);
    });
    emulator.faults.before = (name) => (name === list ? held : undefined);
    await expect(api.ask("list", {})).rejects.toMatchObject({ code: "iterm2-timeout" });
    const reason = new Error("enough");
    await expect(api.ask("list", {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    delete emulator.faults.before;
    go();
    expect((await api.ask("buffer", { session: emulator.session, lines: { trailing: 1 } })).status).toBe(
      "OK",
    );
    expect(emulator.connections()).toBe(1);
  });

  it("stops asking the person when it is closed meanwhile", async () => {
    const emulator = await emulatorOf();
    const dir = temporaryDirectory();
    const osascript = path.join(dir, "osascript");
    fs.writeFileSync(
      osascript,
      `#!/bin/sh\necho $$ >${dir}/pid.part; mv ${dir}/pid.part ${dir}/pid\nsleep 300\n`,
      {
        mode: 0o700,
      },
    );
    const api = apiOf(emulator, { osascript });
    const asked = expect(api.ask("text", { session: "x", text: "x", alone: true })).rejects.toMatchObject({
      code: "iterm2-dropped",
    });
    await until(() => fs.existsSync(path.join(dir, "pid")), "the question");
    const asking = identityOf(Number(fs.readFileSync(path.join(dir, "pid"), "utf8")));
    api.disconnect();
    await asked;
    await until(() => liveness(asking!) === "gone", "the end of the question");
  });

  it("hears of sessions that end", async () => {
    const emulator = await emulatorOf({ shell: ["/bin/sh", "-c", "read x"] });
    const api = apiOf(emulator);
    await api.ask("text", { session: emulator.session, text: "\r", alone: true });
    await expect.poll(() => api.hasEnded(emulator.session)).toBe(true);
    expect(api.hasEnded("another")).toBe(false);
  });
});

describe("a refusal has a code, a reason and a remedy:", () => {
  const failureOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!isTroupeError(error)) throw new Error(`no refusal: ${error}`);
    expect(error.message).not.toBe("");
    expect(error.remedy).toBeTruthy();
    expect(error.kind).toBe("unavailable");
    return error.code;
  };

  it("the API is off, and nobody is asked for permission", async () => {
    const emulator = await emulatorOf();
    for (const leaving of ["nothing", "socket"] as const) {
      await emulator.switchOff(leaving);
      const osascript = "/nonexistent";
      expect(await failureOf(apiOf(emulator, { osascript }).ask("list", {}))).toBe("iterm2-api-off");
      await emulator.switchOn();
    }
  });

  it("macOS does not let us ask", async () => {
    const emulator = await emulatorOf();
    emulator.faults.denied = true;
    expect(await failureOf(apiOf(emulator).ask("list", {}))).toBe("iterm2-no-permission");
    const osascript = `${temporaryDirectory()}/none`;
    expect(await failureOf(apiOf(emulator, { osascript }).ask("list", {}))).toBe("iterm2-no-osascript");
  });

  it.each([
    [401, "iterm2-no-permission"],
    [400, "iterm2-bad-handshake"],
    [406, "iterm2-client-too-old"],
    [500, "iterm2-bad-handshake"],
  ])("HTTP %s", async (status, code) => {
    const emulator = await emulatorOf();
    emulator.faults.door = status;
    const env = { ITERM2_COOKIE: "x" };
    expect(await failureOf(apiOf(emulator, { env }).ask("list", {}))).toBe(code);
  });
});
