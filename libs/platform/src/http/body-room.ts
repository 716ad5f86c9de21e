/** Whose bodies leave no room for another one. */
export type FilledBy = 'sender' | 'all';

/** What one body takes of the room. */
export interface Place {
  /** @returns who has filled the room; then the body gets no more of it */
  add(bytes: number): FilledBy | null;
  /** Gives back what the body has taken. */
  leave(): void;
}

/** The bytes of bodies that a process holds at once: in all, and of one sender, who must leave some to others. */
export class BodyRoom {
  private taken = 0;
  private readonly ofSender = new Map<string, number>();

  constructor(
    private readonly bytes: number,
    private readonly bytesOfOne: number,
  ) {}

  /** A place for one body, of which nothing has come. */
  enter(sender: string): Place {
    let held = 0;
    const move = (bytes: number): void => {
      held += bytes;
      this.taken += bytes;
      const own = (this.ofSender.get(sender) ?? 0) + bytes;
      if (own > 0) this.ofSender.set(sender, own);
      else this.ofSender.delete(sender);
    };
    return {
      add: (bytes) => {
        if ((this.ofSender.get(sender) ?? 0) + bytes > this.bytesOfOne) return 'sender';
        if (this.taken + bytes > this.bytes) return 'all';
        move(bytes);
        return null;
      },
      leave: () => move(-held),
    };
  }
}
