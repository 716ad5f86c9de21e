import { expect, it } from '@jest/globals';
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

/** The records of a minute with so many refusals, in a tally with this limit. */
const flood = (limit: number, count: number, of: (index: number) => Partial<AuditRecord>) => {
  const tally = new RefusalTally(limit);
  tally.ended(MINUTE);
  const all = Array.from({ length: count }, (_, index) => refusal(of(index)));
  const records = [...all.flatMap((record) => tally.take(record) ?? []), ...tally.ended(2 * MINUTE)];
  // None is lost.
  expect(records.reduce((sum, { requests }) => sum + requests, 0)).toBe(count);
  return { records, tally };
};

it.each<[string, number, (index: number) => Partial<AuditRecord>, number, Partial<AuditRecord>]>([
  ['have a record each while they are few', 10, () => ({}), 10, { requests: 1 }],
  [
    'are counted by sender and status when one sender floods',
    50_000,
    (index) => ({ status: index % 2 ? 401 : 429 }),
    12,
    { address: '203.0.113.7' },
  ],
  [
    'stay within the limit per minute for any addresses and methods',
    50_000,
    (index) => ({ address: `10.${index % 250}.${index % 199}.${index % 197}`, method: `M${index % 30}` }),
    101,
    { address: null, method: '*', readingId: null },
  ],
  [
    'of one key count as one sender from any address',
    500,
    (index) => ({ actor: 'apiKey:Ab3dE6gH', workspaceId: 'ws_1', address: `10.0.0.${index % 250}` }),
    11,
    { actor: 'apiKey:Ab3dE6gH', workspaceId: 'ws_1', address: null },
  ],
])('Refused requests %s', (_, count, of, expected, last) => {
  const { records } = flood(100, count, of);
  expect(records).toHaveLength(expected);
  expect(records.at(-1)).toMatchObject(last);
});

it('Refused requests of one sender have few records for any mix, and others keep theirs, also in the next minute', () => {
  const { records, tally } = flood(100, 5_001, (index) =>
    index === 5_000
      ? { address: '203.0.113.8' }
      : { route: `/${index % 100}`, method: `M${index % 30}`, status: 400 + (index % 20) },
  );
  const loud = records.filter(({ address }) => address === '203.0.113.7');
  expect(loud).toHaveLength(14);
  expect(loud.at(-1)).toMatchObject({ method: '*', route: '*' });
  expect(records.filter(({ address }) => address === '203.0.113.8')).toHaveLength(1);
  expect(tally.take(refusal())).not.toBeNull();
});
