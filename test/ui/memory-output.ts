import { Writable } from "node:stream";

/** A stream that keeps what was written; with a size it passes for a terminal. */
export class MemoryOutput extends Writable {
  readonly writes: string[] = [];
  readonly isTTY: boolean;
  columns: number;
  rows: number;

  constructor(size?: { columns: number; rows: number }) {
    super({ decodeStrings: false });
    this.isTTY = size !== undefined;
    this.columns = size?.columns ?? 80;
    this.rows = size?.rows ?? 24;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.writes.push(chunk.toString());
    done();
  }

  get text(): string {
    return this.writes.join("");
  }
}
