import fs from "node:fs";
import path from "node:path";

/**
 * The licence texts of every package with a file among `inputs` (paths relative to `root`), as their licences ask of
 * whoever distributes them inside a bundle.
 * @param {string} root
 * @param {readonly string[]} inputs
 * @returns {string}
 */
export function thirdPartyLicenses(root, inputs) {
  const directories = new Set(inputs.map(packageDirectory).filter((directory) => directory !== undefined));
  const texts = [...directories].sort().map((directory) => {
    const folder = path.join(root, directory);
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
    const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? "" : fs.readFileSync(path.join(folder, file), "utf8").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `troupe contains the following packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** `a/node_modules/@scope/name` of a file inside of it, or undefined for a file of ours. */
function packageDirectory(/** @type {string} */ input) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
}
