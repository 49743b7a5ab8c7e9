import { readTextIfExists } from "../src/util/fs.js";

/** The command that installs `name` on this platform, as its users know it. */
export function installCommand(
  name: string,
  platform: NodeJS.Platform = process.platform,
  osRelease = readTextIfExists("/etc/os-release") ?? "",
): string {
  if (platform === "darwin") return `brew install ${name}`;
  const kinds = Array.from(osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)/gm), ([, kind = ""]) =>
    kind.split(" "),
  ).flat();
  const known = kinds.find((kind) => Object.hasOwn(managers, kind));
  return `${known === undefined ? "sudo apt-get install" : managers[known]} ${name}`;
}

const managers: Readonly<Record<string, string>> = {
  debian: "sudo apt-get install",
  ubuntu: "sudo apt-get install",
  fedora: "sudo dnf install",
  rhel: "sudo dnf install",
  arch: "sudo pacman -S",
  alpine: "sudo apk add",
  suse: "sudo zypper install",
  opensuse: "sudo zypper install",
  gentoo: "sudo emerge",
  void: "sudo xbps-install",
};
