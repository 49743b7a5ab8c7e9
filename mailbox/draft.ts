import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { errnoOf } from "../src/util/errors.js";
import { removeLeftover } from "./message-file.js";

const fsync = promisify(fs.fsync);

/**
 * Writes `bytes` durably to a new file in `directory` and resolves with its path; the caller removes it. A failure
 * leaves no file. The name is unique, so that what a killed sender left behind never stands in the way of a repeat.
 */
export async function writeDraft(directory: string, id: string, bytes: Uint8Array): Promise<string> {
  const file = draftPath(directory, id);
  const fd = openDraft(file, bytes);
  try {
    await fsync(fd);
  } catch (error) {
    removeLeftover(file);
    throw error;
  } finally {
    fs.closeSync(fd);
  }
  return file;
}

/** As {@link writeDraft}, blocking. */
export function writeDraftSync(directory: string, id: string, bytes: Uint8Array): string {
  const file = draftPath(directory, id);
  const fd = openDraft(file, bytes);
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    removeLeftover(file);
    throw error;
  } finally {
    fs.closeSync(fd);
  }
  return file;
}

/** Makes the entries of `directory` durable. A file system that cannot do it for directories is let be. */
export async function syncDirectory(directory: string): Promise<void> {
  const fd = fs.openSync(directory, "r");
  try {
    await fsync(fd);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** As {@link syncDirectory}, blocking. */
export function syncDirectorySync(directory: string): void {
  const fd = fs.openSync(directory, "r");
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes the names of drafts unique. */
const thisProcess = randomBytes(6).toString("hex");
let drafts = 0;

function draftPath(directory: string, id: string): string {
  drafts++;
  return path.join(directory, `${id}.${thisProcess}-${drafts}.json`);
}

function openDraft(file: string, bytes: Uint8Array): number {
  const fd = fs.openSync(file, "wx", 0o600);
  try {
    fs.writeFileSync(fd, bytes);
  } catch (error) {
    fs.closeSync(fd);
    removeLeftover(file);
    throw error;
  }
  return fd;
}

function isUnsupported(error: unknown): boolean {
  return ["EINVAL", "ENOTSUP", "EOPNOTSUPP"].includes(errnoOf(error) ?? "");
}
