import canonicalize from "canonicalize";

/**
 * The RFC 8785 form of a JSON value: equal values have equal texts. Throws for what JSON cannot hold, such as the infinite
 * number that `1e999` is read as.
 */
export function canonicalJson(value: object): string {
  // The declaration describes a namespace, but the module is the function.
  const serialize = canonicalize as unknown as (value: object) => string;
  return serialize(value);
}
