// Holds the lock of a team as its host, takes connections on its socket, and never answers. Arguments: lock, socket.
import net from "node:net";
import { tryLock } from "../../../src/util/lock.js";

const [lock = "", socket = ""] = process.argv.slice(2);
if ((await tryLock(lock)) === undefined) throw new Error("the lock is held");
net.createServer(() => undefined).listen(socket, () => console.log("listens"));
