/** Whose bodies leave no room for another one. */
export type FilledBy = 'sender' | 'all';

/** The bytes of bodies that a process holds at once: in all, and of one sender, who must leave some to others. */
export class BodyRoom {
  private taken = 0;
  private readonly ofSender = new Map<string, number>();

  constructor(
    private readonly bytes: number,
    private readonly bytesOfOne: number,
  ) {}

  /** @returns what gives the room back, to be called once; or who has filled it */
  take(sender: string, bytes: number): (() => void) | FilledBy {
    const own = (this.ofSender.get(sender) ?? 0) + bytes;
    if (own > this.bytesOfOne) return 'sender';
    if (this.taken + bytes > this.bytes) return 'all';
    this.taken += bytes;
    this.ofSender.set(sender, own);
    return () => {
      this.taken -= bytes;
      const left = this.ofSender.get(sender)! - bytes;
      if (left > 0) this.ofSender.set(sender, left);
      else this.ofSender.delete(sender);
    };
  }
}
