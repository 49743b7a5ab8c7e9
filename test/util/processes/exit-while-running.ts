import fs from "node:fs";
import { exec } from "../../../src/util/exec.js";

/** Starts a command that writes its pid to the given file and would run on, and exits in the middle of it. */
const [file = ""] = process.argv.slice(2);
void exec(["bash", "-c", `echo $$ > ${file}.new; mv ${file}.new ${file}; sleep 60`], {
  cwd: "/",
  timeoutMs: 60_000,
});
const timer = setInterval(() => {
  if (!fs.existsSync(file)) return;
  clearInterval(timer);
  process.exit(7);
}, 10);
