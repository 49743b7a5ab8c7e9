/** A signal that is aborted with `reason` when {@link IdleSignal.touch} was not called for the given time. */
export interface IdleSignal {
  readonly signal: AbortSignal;
  touch(): void;
  /** Stops the clock. Idempotent. */
  end(): void;
}

export function createIdleSignal(idleMs: number, reason: Error): IdleSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason), idleMs);
  return {
    signal: controller.signal,
    touch: () => void timer.refresh(),
    end: () => clearTimeout(timer),
  };
}
