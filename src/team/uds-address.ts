import path from "node:path";
import { TroupeError } from "../util/errors.js";
import { maxSocketPath } from "./paths.js";

const scheme = "uds:";

/**
 * The socket's path in `uds:/path.sock`; undefined for any other kind of address. Throws TroupeError `bad-address` (kind
 * `usage`) for a path that cannot be a socket's. A path with `..` is refused, so that a rule about a directory holds for
 * all that the text of an address may say.
 */
export function socketOf(address: string): string | undefined {
  if (!isSocketAddress(address)) return undefined;
  const socket = address.slice(scheme.length);
  const fault = faultOf(socket);
  if (fault === undefined) return socket;
  throw new TroupeError("bad-address", `the address ${JSON.stringify(address)} names no socket: ${fault}`, {
    kind: "usage",
    remedy: "write it as uds:/directory/name.sock",
  });
}

/** Whether an address is meant for a socket, be it right or wrong. */
export function isSocketAddress(address: string): boolean {
  return address.startsWith(scheme);
}

/** Why a path cannot be that of a socket, or undefined. */
export function faultOf(socket: string): string | undefined {
  if (!path.isAbsolute(socket)) return "its path is not absolute";
  if (path.normalize(socket) !== socket || socket.endsWith("/"))
    return "its path is not in its plainest form";
  if (/[\u0000-\u001f\u007f-\u009f]/.test(socket)) return "its path holds a control character";
  if (Buffer.byteLength(socket) > maxSocketPath) return `its path is longer than ${maxSocketPath} bytes`;
  return undefined;
}
