import fs from "node:fs";
import type http from "node:http";
import path from "node:path";

/** The cookies that were given out and not used: a file each. */
export interface CookieJar {
  /** A new cookie, good for one connection. `prefix` is of letters. */
  issue(prefix?: string): string;
  /** Uses a cookie up; false where there is none such. */
  take(cookie: string): boolean;
}

export function openCookieJar(dir: string): CookieJar {
  let last = 0;
  return {
    issue(prefix = "cookie") {
      const cookie = `${prefix}${++last}`;
      fs.writeFileSync(path.join(dir, cookie), "");
      return cookie;
    },
    take(cookie) {
      if (!/^\w+$/.test(cookie)) return false;
      try {
        fs.unlinkSync(path.join(dir, cookie));
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** The HTTP status with which a client is turned away: 400 malformed, 401 not let in, 406 too old; undefined: let in. */
export function refusalOf(
  { url, headers }: Pick<http.IncomingMessage, "url" | "headers">,
  isLetIn: (cookie: string | undefined) => boolean,
): 400 | 401 | 406 | undefined {
  const [name, version, ...rest] = String(headers["x-iterm2-library-version"] ?? "").split(" ");
  const isWellFormed =
    url === "/" &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    headers.connection === "Upgrade" &&
    headers["sec-websocket-protocol"] === "api.iterm2.com" &&
    hostOf(headers.origin) === "localhost" &&
    /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? "");
  if (!isWellFormed || !name || !version || rest.length > 0) return 400;
  if (name === "python" && Number(version) < 0.24) return 406;
  const cookie = headers["x-iterm2-cookie"];
  return isLetIn(typeof cookie === "string" ? cookie : undefined) ? undefined : 401;
}

function hostOf(origin: string | undefined): string | undefined {
  return URL.canParse(origin ?? "") ? new URL(origin ?? "").hostname : undefined;
}
