import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { EndpointPace } from '../flow-control.js';

/** Sends whenever it may, at each look. @returns when something was sent */
const send = (pace: EndpointPace, looks: readonly number[]): readonly number[] => {
  const sent: number[] = [];
  for (const now of looks)
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

  it('uses its limit when a worker looks every ten milliseconds', () => {
    const looks = Array.from({ length: 100 }, (_, n) => n * 10);
    const sent = send(new EndpointPace(500, 0), looks).length;
    expect(sent).toBeGreaterThanOrEqual(495);
  });
});
