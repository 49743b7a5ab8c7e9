/**
 * `target` with `methods` that throw the reason of `revoked` once that is aborted: what reaches others from a teammate that
 * was killed and goes on all the same.
 */
export function revocable<T extends object, M extends keyof T>(
  target: T,
  methods: readonly M[],
  revoked: AbortSignal | undefined,
): T {
  if (revoked === undefined) return target;
  const guarded = methods.map((method) => {
    const original = target[method] as (...args: unknown[]) => unknown;
    return [
      method,
      (...args: unknown[]) => {
        revoked.throwIfAborted();
        return original.apply(target, args);
      },
    ];
  });
  return { ...target, ...Object.fromEntries(guarded) };
}
