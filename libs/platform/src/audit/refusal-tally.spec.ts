import { describe, expect, it } from '@jest/globals';
import type { AuditRecord } from './audit-records.js';
import { RefusalTally } from './refusal-tally.js';

const MINUTE = 60_000;
const refusal = (given: Partial<AuditRecord> = {}): AuditRecord => ({
  at: MINUTE,
  requestId: 'b1b2b3b4-0000-4000-8000-000000000000',
  requests: 1,
  method: 'GET',
  route: '/api/v1/readings',
  status: 401,
  workspaceId: null,
  actor: null,
  address: '203.0.113.7',
  readingId: null,
  personal: false,
  ...given,
});

const flood = (tally: RefusalTally, records: Iterable<AuditRecord>): AuditRecord[] => {
  tally.ended(MINUTE);
  const own = [...records].flatMap((record) => tally.take(record) ?? []);
  return [...own, ...tally.ended(2 * MINUTE)];
};
const requestsIn = (records: readonly AuditRecord[]) =>
  records.reduce((sum, { requests }) => sum + requests, 0);

describe('refused requests', () => {
  it('have a record each while they are few', () => {
    const tally = new RefusalTally(100);
    expect(
      flood(
        tally,
        Array.from({ length: 10 }, () => refusal()),
      ),
    ).toHaveLength(10);
  });

  it('are counted by sender and status when one sender floods, without losing any', () => {
    const tally = new RefusalTally(100);
    const records = flood(
      tally,
      Array.from({ length: 50_000 }, (_, index) => refusal({ status: index % 2 ? 401 : 429 })),
    );
    expect(records).toHaveLength(12);
    expect(requestsIn(records)).toBe(50_000);
    expect(records.every(({ address }) => address === '203.0.113.7')).toBe(true);
  });

  it('stay within the limit per minute for any addresses, readings and methods', () => {
    const tally = new RefusalTally(100);
    const records = flood(
      tally,
      Array.from({ length: 50_000 }, (_, index) =>
        refusal({ address: `10.${index % 250}.${index % 199}.${index % 197}`, method: `M${index % 30}` }),
      ),
    );
    expect(records).toHaveLength(101);
    expect(requestsIn(records)).toBe(50_000);
    expect(records.at(-1)).toMatchObject({ address: null, method: '*', readingId: null });
  });

  it('of one sender have few records for any mix of requests, and others keep theirs', () => {
    const tally = new RefusalTally(100);
    const records = flood(tally, [
      ...Array.from({ length: 5_000 }, (_, index) =>
        refusal({ route: `/${index % 100}`, method: `M${index % 30}`, status: 400 + (index % 20) }),
      ),
      refusal({ address: '203.0.113.8' }),
    ]);
    const loud = records.filter(({ address }) => address === '203.0.113.7');
    expect(loud).toHaveLength(14);
    expect(loud.at(-1)).toMatchObject({ method: '*', route: '*' });
    expect(records.filter(({ address }) => address === '203.0.113.8')).toHaveLength(1);
    expect(requestsIn(records)).toBe(5_001);
  });

  it('of one key count as one sender from any address', () => {
    const tally = new RefusalTally(100);
    const records = flood(
      tally,
      Array.from({ length: 500 }, (_, index) =>
        refusal({ actor: 'apiKey:Ab3dE6gH', workspaceId: 'ws_1', address: `10.0.0.${index % 250}` }),
      ),
    );
    expect(records).toHaveLength(11);
    expect(records.at(-1)).toMatchObject({ actor: 'apiKey:Ab3dE6gH', workspaceId: 'ws_1', address: null });
  });

  it('are recorded again in the next minute', () => {
    const tally = new RefusalTally(1);
    flood(tally, [refusal(), refusal(), refusal()]);
    expect(tally.take(refusal())).not.toBeNull();
  });
});
