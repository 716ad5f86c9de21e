import type { ServerResponse } from 'node:http';

/** Answers of one address that are held at a time. */
const OF_ADDRESS = 16;

/**
 * Refusals that are given a moment later, so that a caller who asks again as soon as it is refused does so once a second
 * on each connection, and not ten thousand times. Spread, lest they all come at the same moment. Each connection has one
 * request under way, so that the number of connections bounds them all.
 */
export class HeldAnswers {
  private readonly ofAddress = new Map<string, number>();

  /** @param milliseconds how long in the middle: between half and three halves of it */
  constructor(private readonly milliseconds: number) {}

  /** Closes the connection instead when the address has too many answers held. */
  hold(address: string, response: ServerResponse, answer: () => void): void {
    if (response.destroyed || response.socket?.destroyed) return;
    const held = this.ofAddress.get(address) ?? 0;
    if (held >= OF_ADDRESS) {
      response.socket?.resetAndDestroy();
      return;
    }
    this.ofAddress.set(address, held + 1);
    const timer = setTimeout(
      () => {
        response.removeListener('close', left);
        this.release(address);
        answer();
      },
      this.milliseconds * (0.5 + Math.random()),
    );
    const left = (): void => {
      clearTimeout(timer);
      this.release(address);
    };
    response.once('close', left);
  }

  private release(address: string): void {
    const rest = (this.ofAddress.get(address) ?? 1) - 1;
    if (rest > 0) this.ofAddress.set(address, rest);
    else this.ofAddress.delete(address);
  }
}
