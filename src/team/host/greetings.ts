/** Which incarnations have said hello from a process of their own. */
export interface Greetings {
  /** One has. */
  add(incarnation: string): void;
  /** Resolves once this one has. */
  heard(incarnation: string): Promise<void>;
  /** Nobody waits for it any more. */
  forget(incarnation: string): void;
}

export function createGreetings(): Greetings {
  const latches = new Map<string, { readonly opened: Promise<void>; readonly open: () => void }>();
  const latchOf = (incarnation: string) => {
    const known = latches.get(incarnation);
    if (known !== undefined) return known;
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const latch = { opened, open };
    latches.set(incarnation, latch);
    return latch;
  };
  return {
    add: (incarnation) => latchOf(incarnation).open(),
    heard: (incarnation) => latchOf(incarnation).opened,
    forget: (incarnation) => void latches.delete(incarnation),
  };
}
