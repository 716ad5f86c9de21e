import { describe, expect, it } from '@jest/globals';
import { recoveryAfter } from './fault.js';

describe('the recovery from a fault', () => {
  it('ends with the first success after the last failure', async () => {
    let failuresLeft = 0;
    let calls = 0;
    const { seconds, failing } = await recoveryAfter(
      async () => {
        calls += 1;
        // A success among failures is no recovery.
        if (failuresLeft > 0 && calls !== 3) {
          failuresLeft -= 1;
          throw new Error('away');
        }
      },
      () => void (failuresLeft = 5),
    );
    expect(failuresLeft).toBe(0);
    // Six calls before it, 50 ms apart.
    expect(seconds).toBeGreaterThan(0.25);
    expect(failing).toBe(0.25);
  });
});
