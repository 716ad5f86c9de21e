import { describe, expect, it } from '@jest/globals';
import { WayOut } from './way-out.js';

const failed = { error: 'proxy_failed' } as const;

describe('The way out', () => {
  it('is open to any number of deliveries, until the proxy fails', () => {
    const way = new WayOut();
    way.began();
    way.began();
    expect(way.isOpen(0)).toBe(true);
    way.ended({ error: 'http_error' }, 0);
    way.ended({ error: null }, 0);
    expect(way.isOpen(0)).toBe(true);
    way.ended(failed, 0);
    expect(way.isOpen(999)).toBe(false);
  });

  it('is then tried by one delivery at a time, at pauses that double to half a minute', () => {
    const way = new WayOut();
    way.ended(failed, 0);
    const pauses: number[] = [];
    for (let [tried, now] = [0, 1_000]; tried < 7; tried += 1) {
      expect(way.isOpen(now)).toBe(true);
      way.began();
      expect(way.isOpen(now)).toBe(false);
      way.ended(failed, now);
      let pause = 0;
      while (!way.isOpen(now + pause)) pause += 1_000;
      pauses.push(pause);
      now += pause;
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('counts failures of deliveries that were under way together once', () => {
    const way = new WayOut();
    for (let n = 0; n < 128; n += 1) way.ended(failed, n);
    expect(way.isOpen(1_000)).toBe(true);
  });

  it.each(['asked_refusal', 'dns_failed', 'blocked_address', 'invalid_url', null] as const)(
    'is still closed after %s: nothing was sent, or the outcome is unknown',
    (error) => {
      const way = new WayOut();
      way.ended(failed, 0);
      way.began();
      way.ended(error === null ? null : { error }, 500);
      expect(way.isOpen(500)).toBe(false);
      expect(way.isOpen(1_000)).toBe(true);
    },
  );

  it.each([null, 'http_error', 'timeout', 'connect_failed'] as const)(
    'is open again when a delivery gets through to its receiver (%s)',
    (error) => {
      const way = new WayOut();
      way.ended(failed, 0);
      way.began();
      way.ended({ error }, 1_000);
      way.began();
      expect(way.isOpen(1_000)).toBe(true);
    },
  );
});
