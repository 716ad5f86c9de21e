import type { ServerResponse } from 'node:http';

/** Answers held back at a time; beyond, they are given at once. */
const AT_ONCE = 1_000;

/**
 * Refusals that are given a moment later, so that a caller who asks again as soon as it is refused does so once a second
 * on each connection, and not ten thousand times. Spread, lest they all come at the same moment.
 */
export class HeldAnswers {
  private count = 0;

  /** @param milliseconds how long in the middle: between half and three halves of it */
  constructor(private readonly milliseconds: number) {}

  hold(response: ServerResponse, answer: () => void): void {
    if (response.destroyed || response.socket?.destroyed) return;
    if (this.count >= AT_ONCE) return answer();
    this.count += 1;
    const timer = setTimeout(
      () => {
        response.removeListener('close', left);
        this.count -= 1;
        answer();
      },
      this.milliseconds * (0.5 + Math.random()),
    );
    const left = (): void => {
      clearTimeout(timer);
      this.count -= 1;
    };
    response.once('close', left);
  }
}
