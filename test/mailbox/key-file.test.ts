import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { claimantOf } from "../../mailbox/claimant.js";
import { ensureKeyFile } from "../../mailbox/key-file.js";
import { selfIdentity } from "../../src/util/process-identity.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { deadClaimant } from "./support.js";

test("a key is made once, private to its owner, in a directory that need not exist", () => {
  const file = path.join(temporaryDirectory(), "keys", "user.pem");
  ensureKeyFile(file);
  const key = fs.readFileSync(file, "utf8");
  ensureKeyFile(file);
  expect(fs.readFileSync(file, "utf8")).toBe(key);
  expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
});

test.each(["EPERM", "EXDEV", "ENOSYS", "EMLINK"])(
  "where links are refused with %s the first maker's key stays",
  (code) => {
    const dir = temporaryDirectory();
    const file = path.join(dir, "user.pem");
    let isFirst = false;
    const linking = vi.spyOn(fs, "linkSync").mockImplementation(() => {
      if (!isFirst) fs.writeFileSync(file, "the first one's");
      throw Object.assign(new Error(code), { code });
    });
    onTestFinished(() => linking.mockRestore());
    ensureKeyFile(file);
    expect(fs.readFileSync(file, "utf8")).toBe("the first one's");
    isFirst = true;
    const other = path.join(dir, "other.pem");
    fs.writeFileSync(path.join(dir, ".lock-other.pem"), "");
    fs.utimesSync(path.join(dir, ".lock-other.pem"), 0, 0);
    ensureKeyFile(other);
    expect(fs.readFileSync(other, "utf8")).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(fs.readdirSync(dir).sort()).toEqual(["other.pem", "user.pem"]);
  },
);

test.each(["before it was in place", "afterwards"])("the draft of a maker killed %s is removed", (when) => {
  const dir = temporaryDirectory();
  const file = path.join(dir, "user.pem");
  if (when === "afterwards") ensureKeyFile(file);
  fs.writeFileSync(path.join(dir, `.user.pem~${deadClaimant}.0badcafe.json`), "");
  ensureKeyFile(file);
  expect(fs.readdirSync(dir)).toEqual(["user.pem"]);
});

test("the drafts of makers that are at work, and all other files, are left alone", () => {
  const dir = temporaryDirectory();
  const alive = `.user.pem~${claimantOf(selfIdentity())}.0badcafe.json`;
  const others = [`.other.pem~${deadClaimant}.0badcafe.json`, "user.pem.bak", ".user.pem~odd"];
  for (const name of [alive, ...others]) fs.writeFileSync(path.join(dir, name), "");
  ensureKeyFile(path.join(dir, "user.pem"));
  expect(fs.readdirSync(dir).sort()).toEqual([alive, ...others, "user.pem"].sort());
});
