import { nameKey } from "../util/name-key.js";

/** A test for being the same name as `name`. */
export function sameName(name: string): (other: string) => boolean {
  const key = nameKey(name);
  return (other) => other === name || nameKey(other) === key;
}
