/** Which incarnations have said hello from a process of their own. */
export interface Greetings {
  /** Resolves once this one has; to be called before it is started, and followed by `forget`. */
  expect(incarnation: string): Promise<void>;
  /** One has. Nothing happens where nobody waits for it: it comes late, or once more. */
  add(incarnation: string): void;
  /** Nobody waits for it any more. */
  forget(incarnation: string): void;
}

export function createGreetings(): Greetings {
  const expected = new Map<string, () => void>();
  return {
    expect: (incarnation) => new Promise((resolve) => expected.set(incarnation, resolve)),
    add: (incarnation) => expected.get(incarnation)?.(),
    forget: (incarnation) => void expected.delete(incarnation),
  };
}
