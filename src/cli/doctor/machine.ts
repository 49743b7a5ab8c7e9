import fs from "node:fs";
import path from "node:path";
import { errnoOf, messageOf } from "../../util/errors.js";
import type { Finding } from "./finding.js";

/** Oldest Node that troupe runs on. */
const oldestNode = [20, 19] as const;

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const subject = "node";
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]))
    return { subject, state: "ok", text: `Node ${version} on ${process.platform} ${process.arch}`, version };
  return {
    subject,
    state: "problem",
    text: `Node ${version} is too old`,
    version,
    remedy: `install Node ${oldestNode.join(".")} or newer`,
  };
}

/** Whether TROUPE_HOME can be used, or made. Creates nothing. */
export function checkHome(home: string): Finding {
  const subject = "home";
  const remedy = "set TROUPE_HOME to a directory of yours on a local disk";
  const place = nearestExisting(home);
  try {
    if (!fs.statSync(place).isDirectory())
      return { subject, state: "problem", text: `${place} is not a directory`, remedy };
    fs.accessSync(place, fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    return { subject, state: "problem", text: `${place} cannot be written: ${messageOf(error)}`, remedy };
  }
  const remote = remoteFileSystem(place);
  if (remote !== undefined)
    return {
      subject,
      state: "warning",
      text: `${home} is on ${remote}: files there do not tell of changes, and mail comes late`,
      remedy,
    };
  return { subject, state: "ok", text: place === home ? `${home} is writable` : `${home} can be created` };
}

/** Whether there is a key or a base URL for embedded agents. Never what it is. */
export function checkModelAccess(env: Readonly<Record<string, string | undefined>>): Finding {
  const names = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"];
  const set = names.filter((name) => Boolean(env[name]));
  const subject = "model";
  if (set.length > 0) return { subject, state: "ok", text: `${set.join(" and ")} set, for embedded agents` };
  return {
    subject,
    state: "warning",
    text: "embedded agents need a key or a base URL, and neither is set",
    remedy: "set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL; to look around without either: --model offline",
  };
}

/** `place`, or the nearest directory above it that exists. */
export function nearestExisting(place: string): string {
  for (let dir = place; ; dir = path.dirname(dir)) {
    try {
      if (fs.existsSync(dir) || fs.lstatSync(dir)) return dir;
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "") || dir === path.dirname(dir)) return dir;
    }
  }
}

/** File systems that other machines change, by the numbers that statfs(2) gives on Linux. */
const remoteTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
  [0x01021997, "9p"],
  [0x65735546, "FUSE"],
  [0x6a656a63, "virtiofs"],
  [0x00c36400, "Ceph"],
  [0x786f4256, "a VirtualBox share"],
]);

function remoteFileSystem(place: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return remoteTypes.get(fs.statfsSync(place).type >>> 0);
}
