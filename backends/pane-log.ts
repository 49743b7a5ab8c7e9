import { maxLogBytes } from "./output-log.js";

/** How much one read takes at most, in bytes. */
const blockBytes = 16 * 1024;

/**
 * A command line for `sh` that appends its input to `file` (0600, absolute), as it comes and byte for byte, and ends with
 * its input. The log never grows beyond `maxBytes`: from three quarters of that on it goes on in a new file, and the one
 * before it is kept beside it as `<file>.1`. Needs `dd`, `wc` and `mv` alone. Where the log cannot be written it ends, too.
 */
export function logCommand(file: string, maxBytes = maxLogBytes): string {
  const blocks = Math.max(1, Math.floor(maxBytes / 4 / blockBytes));
  const rest = maxBytes - blocks * blockBytes;
  // What a teammate has put in the log's place is not opened: a named pipe that nobody reads would hold dd for ever.
  const fit = `{ [ ! -e "$f" ] || [ -f "$f" ]; }`;
  const take = `n=$(LC_ALL=C dd bs=${blockBytes} count=${blocks} 2>&1 >>"$f")`;
  // dd tells full and partial reads as `N+M records in`: fewer than it was asked for are the end of the input.
  const goesOn = `n=\${n%% records*} && n=$((\${n##*[!0-9+]})) && [ "$n" -eq ${blocks} ]`;
  const makeRoom = `[ ! -f "$f" ] || [ "$(wc -c <"$f")" -le ${rest} ] || mv -f "$f" "$f.1"`;
  return `umask 077; f=${quoted(file)}; while ${fit} && ${take} && ${goesOn}; do ${makeRoom}; done`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
