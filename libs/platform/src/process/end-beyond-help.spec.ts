import { describe, expect, it } from '@jest/globals';
import { endBeyondHelp } from './end-beyond-help.js';

/** Seconds until the process ends, given the seconds in which its connection is unusable. */
const endsAfter = async (afterMs: number, isBeyondHelp: (second: number) => boolean): Promise<number> => {
  let now = 0;
  const connection = {
    get beyondHelp() {
      return isBeyondHelp(now / 1_000);
    },
  };
  const stopping = new AbortController();
  const time = {
    now: () => now,
    pause: async (milliseconds: number) => {
      now += milliseconds;
      if (now > 600_000) stopping.abort();
      await Promise.resolve();
    },
  };
  const ending = endBeyondHelp(connection, afterMs, time).run(stopping.signal);
  const ended = await ending.then(
    () => false,
    (error: unknown) => (error as Error).message.includes('is unusable'),
  );
  return ended ? now / 1_000 : Infinity;
};

describe('a process with an unusable connection to the event store', () => {
  it('ends once it has been unusable continuously for the given time', async () => {
    expect(await endsAfter(30_000, (second) => second >= 10)).toBe(40);
    expect(await endsAfter(30_000, (second) => second >= 10 && second !== 35)).toBe(66);
  });

  it('ends at once when nothing probes it', async () => {
    expect(await endsAfter(0, (second) => second >= 10)).toBe(10);
  });

  it('stays alive when the connection recovers, or never failed', async () => {
    expect(await endsAfter(30_000, (second) => second % 30 !== 0)).toBe(Infinity);
    expect(await endsAfter(0, () => false)).toBe(Infinity);
  });
});
