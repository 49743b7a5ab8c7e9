// Replaces a file over and over until it is killed; run by fs.test.ts as a process of its own.
import { writeJsonAtomic } from "../../../src/util/fs.js";

const [file = ""] = process.argv.slice(2);
for (let n = 0; ; n++) await writeJsonAtomic(file, { n, text: String(n % 10).repeat(20_000) });
