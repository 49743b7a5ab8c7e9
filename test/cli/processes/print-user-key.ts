import { userKeys } from "../../../src/team/keys.js";

process.stdout.write(userKeys(process.argv[2] ?? "").publicKey);
