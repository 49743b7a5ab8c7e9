// Puts the text on stdin as a code block between the screen markers of the Markdown file in argument 1.
import fs from "node:fs";

const [start, end] = ["<!-- screen:start -->", "<!-- screen:end -->"];
const [file] = process.argv.slice(2);
const text = fs.readFileSync(file, "utf8");
if (!text.includes(start) || !text.includes(end)) throw new Error(`${file} has no screen markers`);

const lines = fs.readFileSync(0, "utf8").split("\n");
const screen = lines
  .map((line) => line.trimEnd())
  .join("\n")
  .trimEnd();
const before = text.slice(0, text.indexOf(start) + start.length);
fs.writeFileSync(file, `${before}\n\n\`\`\`text\n${screen}\n\`\`\`\n\n${text.slice(text.indexOf(end))}`);
