/** One thing that was looked at. `problem` keeps troupe from working, `warning` takes something away from it. */
export interface Finding {
  readonly subject: string;
  readonly state: "ok" | "warning" | "problem" | "absent";
  /** What was found, in one line. */
  readonly text: string;
  readonly code?: string;
  readonly version?: string;
  /** What mends it. */
  readonly remedy?: string;
}
