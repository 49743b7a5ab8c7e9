import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { checkHome } from "../../../src/cli/doctor/machine.js";
import { checkInotify, checkWatching } from "../../../src/cli/doctor/watching.js";
import { temporaryDirectory } from "../../helpers/temp.js";

const never = new AbortController().signal;

describe("doctor's probe of watching", () => {
  it("sees an event in TROUPE_HOME, or where that would be made, and leaves nothing", async () => {
    const home = temporaryDirectory();
    for (const place of [home, path.join(home, "not/yet")])
      expect(await checkWatching(place, never, { timeoutMs: 20_000 })).toEqual({
        subject: "watching",
        state: "ok",
        text: `${home} tells of changes`,
      });
    expect(fs.readdirSync(home)).toEqual([]);
  });

  it("says that mail comes late where no event comes, or no watch can be had", async () => {
    const home = temporaryDirectory();
    let closed = 0;
    const silent = () => ({ close: () => void closed++ });
    expect(await checkWatching(home, never, { watch: silent, timeoutMs: 30 })).toMatchObject({
      state: "warning",
      text: expect.stringMatching(/^no event .* within 30 ms: mail comes with the next look/),
      remedy: expect.stringContaining("inotify"),
    });
    expect(closed).toBe(1);
    const refused = () => {
      throw new Error("ENOSPC: System limit for number of file watchers reached");
    };
    expect(await checkWatching(home, never, { watch: refused })).toMatchObject({
      state: "warning",
      text: expect.stringContaining("ENOSPC"),
    });
    expect(fs.readdirSync(home)).toEqual([]);
  });

  it("does not try where nothing can be written, and ends with its signal", async () => {
    const file = path.join(temporaryDirectory(), "file");
    fs.writeFileSync(file, "");
    expect(await checkWatching(path.join(file, "home"), never)).toMatchObject({ state: "absent" });
    const ending = new AbortController();
    const home = temporaryDirectory();
    const waiting = checkWatching(home, ending.signal, { watch: () => ({ close() {} }), timeoutMs: 60_000 });
    ending.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(fs.readdirSync(home)).toEqual([]);
  });
});

describe("doctor's look at inotify", () => {
  /** A /proc with these limits and one process with two watches. */
  function procWith(watches: number, instances: number): string {
    const proc = temporaryDirectory();
    fs.mkdirSync(path.join(proc, "sys/fs/inotify"), { recursive: true });
    fs.writeFileSync(path.join(proc, "sys/fs/inotify/max_user_watches"), `${watches}\n`);
    fs.writeFileSync(path.join(proc, "sys/fs/inotify/max_user_instances"), `${instances}\n`);
    for (const directory of ["fd", "fdinfo"])
      fs.mkdirSync(path.join(proc, "17", directory), { recursive: true });
    fs.symlinkSync("anon_inode:inotify", path.join(proc, "17/fd/5"));
    fs.symlinkSync("/dev/null", path.join(proc, "17/fd/6"));
    fs.writeFileSync(path.join(proc, "17/fdinfo/5"), "pos:\t0\ninotify wd:2 ino:a\ninotify wd:1 ino:b\n");
    return proc;
  }

  it("tells the limits and what is in use", () => {
    expect(checkInotify(procWith(65_536, 128))).toEqual({
      subject: "inotify",
      state: "ok",
      text: "2 of 65536 watches and 1 of 128 instances in use",
    });
    expect(checkInotify(temporaryDirectory()).state).toBe("absent");
  });

  it.each([
    [100, 128],
    [65_536, 1],
  ])("warns of %d watches and %d instances", (watches, instances) => {
    expect(checkInotify(procWith(watches, instances))).toMatchObject({
      state: "warning",
      remedy: expect.stringContaining("sysctl"),
    });
  });
});

describe.runIf(process.platform === "linux")("doctor's look at TROUPE_HOME", () => {
  it.each([
    [0x6969, "NFS"],
    [0xff534d42, "CIFS"],
    [0xfe534d42, "SMB"],
    [0x01021997, "9p"],
    [0x65735546, "FUSE"],
  ])("warns of a file system of type %i, which is %s", (type, name) => {
    const home = temporaryDirectory();
    // As Node gives it on machines where a long is 64 or 32 bits wide.
    for (const given of [type, type | 0]) {
      const asked = vi.spyOn(fs, "statfsSync").mockReturnValue({ type: given } as never);
      onTestFinished(() => asked.mockRestore());
      expect(checkHome(home)).toMatchObject({
        state: "warning",
        text: expect.stringContaining(`is on ${name}`),
      });
    }
    vi.restoreAllMocks();
    expect(checkHome(home).state).toBe("ok");
  });
});
