/**
 * Something in a mailbox that is not mail for us. `bad`: not a message, moved to `bad/`. `newer`: a message of a later
 * version, left where it is and told once. `unreadable`: could not be read or claimed now, left where it is, tried again.
 * `file` is the name as found (hostile text), `reason` is one printable line.
 */
export interface MailProblem {
  readonly type: "bad" | "newer" | "unreadable";
  readonly file: string;
  readonly reason: string;
}
