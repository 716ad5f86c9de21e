import { describe, expect, it } from '@jest/globals';
import { ReadingServiceClient, StillUnderWay } from './index.js';

type Answer = () => Response;

let looks: number[] = [];

/** A service that gives these answers one after another and repeats the last one. */
const service = (...answers: readonly Answer[]): ReadingServiceClient => {
  looks = [];
  return new ReadingServiceClient({
    baseUrl: 'http://readings.example',
    apiKey: 'k',
    longestPauseMs: 1,
    fetch: async () => {
      looks.push(performance.now());
      return answers[Math.min(looks.length, answers.length) - 1]!();
    },
  });
};

const reading =
  (status: string, available: boolean): Answer =>
  () =>
    Response.json({ status, erasedAt: null, document: { available } });
const refusal =
  (status: number, code: string, retryAfter: string): Answer =>
  () =>
    Response.json({ status, code, title: 'Sorry' }, { status, headers: { 'retry-after': retryAfter } });
const limited = refusal(429, 'rate_limited', '0');
const caught = (error: unknown): unknown => error;

describe('A wait for publication', () => {
  it('looks less and less often at a reading that is completed but not published', async () => {
    const { readings } = service(reading('completed', false));
    expect(await readings.waitUntilDone('r', { timeoutMs: 2_500 }).catch(caught)).toBeInstanceOf(
      StillUnderWay,
    );
    expect(looks.length).toBeGreaterThan(1);
    expect(looks.length).toBeLessThan(9);
  });

  it.each([
    ['429', limited],
    ['503', refusal(503, 'service_unavailable', '0')],
  ])('outlasts answers %s, more than one call retries', async (_, refused) => {
    const { readings } = service(refused, refused, refused, refused, reading('completed', true));
    expect(await readings.waitUntilDone('r')).toMatchObject({ document: { available: true } });
    expect(looks).toHaveLength(5);
  });

  it('waits for Retry-After, also when it is longer than a call would wait', async () => {
    const { readings } = service(refusal(429, 'rate_limited', '1'), reading('failed', false));
    expect(await readings.waitUntilDone('r')).toMatchObject({ status: 'failed' });
    // Timers fire up to a millisecond early.
    expect(looks[1]! - looks[0]!).toBeGreaterThan(998);
  });

  it('ends at its deadline while it is refused, and says why', async () => {
    const { readings } = service(refusal(503, 'service_unavailable', '3600'));
    const failure = await readings.waitUntilDone('r', { timeoutMs: 100 }).catch(caught);
    expect(failure).toBeInstanceOf(StillUnderWay);
    expect(failure).toMatchObject({ cause: { code: 'service_unavailable', retryAfterSeconds: 3_600 } });
  });

  it('ends at any other refusal', async () => {
    const { readings } = service(refusal(404, 'reading_not_found', '0'));
    expect(await readings.waitUntilDone('r').catch(caught)).toMatchObject({ code: 'reading_not_found' });
    expect(looks).toHaveLength(1);
  });
});
