import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EndpointPace, WayOut } from './flow-control.js';

/** Sends whenever it may, at each scan. @returns when something was sent */
const send = (pace: EndpointPace, scans: readonly number[]): readonly number[] => {
  const sent: number[] = [];
  for (const now of scans)
    while (pace.allows(now)) {
      pace.take(now);
      sent.push(now);
    }
  return sent;
};

describe('The pace of an endpoint', () => {
  it('sends one in a second, evenly', () => {
    const looks = Array.from({ length: 301 }, (_, n) => n * 10);
    expect(send(new EndpointPace(1, 0), looks)).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it('never exceeds its limit in a second by more than a twentieth, whenever a worker looks and claims again', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.boolean()), { minLength: 1, maxLength: 60 }),
        (perSecond, steps) => {
          let [now, pace] = [1_000_000, new EndpointPace(perSecond, 0)];
          const sent: number[] = [];
          for (const [pause, claimsAgain] of steps) {
            now += pause;
            if (claimsAgain) pace = new EndpointPace(perSecond, pace.nextAt);
            sent.push(...send(pace, [now]));
          }
          for (const start of sent) {
            const within = sent.filter((at) => at >= start && at < start + 1_000).length;
            expect(within).toBeLessThanOrEqual(Math.max(1, perSecond * 1.05) + 1);
          }
        },
      ),
    );
  });
});

const failed = { error: 'proxy_failed' } as const;

/** A way out whose proxy has just failed, at 0. */
const closedWay = (): WayOut => {
  const way = new WayOut();
  way.began()(failed, 0);
  return way;
};

describe('The way out', () => {
  it('is then tried by one delivery at a time, at pauses that double to half a minute', () => {
    const way = closedWay();
    const pauses: number[] = [];
    for (let [tried, now] = [0, 1_000]; tried < 7; tried += 1) {
      expect(way.isOpen(now)).toBe(true);
      const ended = way.began();
      expect(way.isOpen(now)).toBe(false);
      ended(failed, now);
      let pause = 0;
      while (!way.isOpen(now + pause)) pause += 1_000;
      pauses.push(pause);
      now += pause;
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('counts failures of deliveries that were under way together once', () => {
    const way = new WayOut();
    for (const [n, ended] of Array.from({ length: 128 }, () => way.began()).entries()) ended(failed, n);
    expect(way.isOpen(1_000)).toBe(true);
  });

  it.each([null, failed])(
    'is tried by one delivery although one from before ends meanwhile (%j)',
    (result) => {
      const way = new WayOut();
      const before = way.began();
      way.began()(failed, 0);
      const ended = way.began();
      before(result, 1_500);
      expect(way.isOpen(20_000)).toBe(false);
      ended(failed, 20_000);
      expect(way.isOpen(60_000)).toBe(true);
    },
  );

  it.each(['asked_refusal', 'dns_failed', 'blocked_address', 'invalid_url', null] as const)(
    'is still closed after %s: nothing was sent, or the outcome is unknown',
    (error) => {
      const way = closedWay();
      way.began()(error === null ? null : { error }, 500);
      expect(way.isOpen(500)).toBe(false);
      expect(way.isOpen(1_000)).toBe(true);
    },
  );

  it.each([null, 'http_error', 'timeout', 'connect_failed'] as const)(
    'is open again when a delivery gets through to its receiver (%s)',
    (error) => {
      const way = closedWay();
      way.began()({ error }, 1_000);
      way.began();
      expect(way.isOpen(1_000)).toBe(true);
    },
  );
});
