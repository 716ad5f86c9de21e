import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import type { AuditLoss, AuditRecord } from './audit-records.js';
import { AuditTrail, RefusalTally } from './audit-trail.js';

const BUFFER = 20;
const ROWS = 20;
const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

let table: AuditRecord[];
let losses: AuditLoss[];
let fault: ((records: readonly AuditRecord[]) => Error | null) | null;
let complaints: unknown[][];
let registry: Registry;
let trail: AuditTrail;
let made = 0;

const record = (given: Partial<AuditRecord> = {}): AuditRecord => ({
  at: Date.now(),
  requestId: `b1b2b3b4-0000-4000-8000-${String((made += 1)).padStart(12, '0')}`,
  requests: 1,
  method: 'GET',
  route: '/api/v1/credits',
  status: 200,
  workspaceId: 'ws_1',
  actor: 'apiKey:Ab3dE6gH',
  address: '203.0.113.7',
  readingId: null,
  personal: false,
  ...given,
});

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-04-04T00:00:00Z') });
  [table, losses, complaints, fault] = [[], [], [], null];
  registry = new Registry();
  const records = {
    add: (batch: readonly AuditRecord[]) => {
      const error = fault?.(batch);
      if (error) return Promise.reject(error);
      table.push(...batch);
      return Promise.resolve();
    },
    addLoss: (loss: AuditLoss) => {
      if (fault?.([])) return Promise.reject(AWAY);
      losses.push(loss);
      return Promise.resolve();
    },
  };
  trail = new AuditTrail(
    records,
    { now: () => Date.now() },
    { error: (...said: unknown[]) => void complaints.push(said) } as never,
    registry,
    { waiting: BUFFER, refusalsPerMinute: ROWS },
  );
});

afterEach(() => {
  jest.useRealTimers();
});

const metric = async (name: string) =>
  ((await registry.getSingleMetric(name)!.get()).values[0] as { value: number }).value;

describe('the audit trail', () => {
  it('buffers what it can while PostgreSQL is unavailable, logs it, and afterwards reports how much went unrecorded', async () => {
    fault = () => AWAY;
    for (let count = 0; count < BUFFER + 7; count += 1) trail.admitted(record());
    await jest.advanceTimersByTimeAsync(30_000);
    expect(table).toHaveLength(0);
    expect(await metric('audit_records_waiting')).toBe(BUFFER);
    expect(await metric('audit_records_lost_total')).toBe(7);
    expect(complaints.map(([, message]) => message)).toEqual(
      expect.arrayContaining(['audit records wait for PostgreSQL', 'requests without an audit record']),
    );

    fault = null;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(table).toHaveLength(BUFFER);
    expect(losses).toEqual([expect.objectContaining({ requests: 7 })]);
  });

  it('never releases personal data unrecorded: has no room for it then, and keeps what it admitted before', async () => {
    fault = () => AWAY;
    expect(trail.hasRoom()).toBe(true);
    for (let count = 0; count < BUFFER; count += 1) trail.admitted(record());
    expect(trail.hasRoom()).toBe(false);
    trail.admitted(record({ personal: true }));
    fault = null;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(table.filter(({ personal }) => personal)).toHaveLength(1);
    expect(trail.hasRoom()).toBe(true);
  });

  it('is not blocked by a record that PostgreSQL rejects', async () => {
    const poison = record();
    fault = (batch) => (batch.includes(poison) ? Object.assign(new Error('no'), { code: '22P05' }) : null);
    for (const one of [record(), poison, record()]) trail.admitted(one);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(table).toHaveLength(2);
    expect(await metric('audit_records_written_total')).toBe(2);
    expect(losses).toEqual([expect.objectContaining({ requests: 1 })]);
  });

  it('writes what waits when the process stops, including counted refusals', async () => {
    trail.admitted(record());
    for (let count = 0; count < 1_000; count += 1) trail.refused(record({ actor: null, status: 401 }));
    const stopped = trail.stop();
    await jest.advanceTimersByTimeAsync(2_000);
    await stopped;
    expect(table.reduce((sum, { requests }) => sum + requests, 0)).toBe(1_001);
    expect(table.length).toBeLessThan(15);
  });

  it('writes a loss when the process stops, even if nothing else waits', async () => {
    const poison = record();
    let refusals = 1;
    fault = (batch) =>
      batch.includes(poison)
        ? Object.assign(new Error('no'), { code: '22P05' })
        : batch.length === 0 && refusals-- > 0
          ? AWAY
          : null;
    trail.admitted(poison);
    await jest.advanceTimersByTimeAsync(250);
    expect(losses).toHaveLength(0);
    const stopped = trail.stop();
    await jest.advanceTimersByTimeAsync(0);
    await stopped;
    expect(losses).toEqual([expect.objectContaining({ requests: 1 })]);
  });
});

const MINUTE = 60_000;
/** Of somebody unknown. */
const refusal = (given: Partial<AuditRecord> = {}): AuditRecord =>
  record({ status: 401, workspaceId: null, actor: null, ...given });

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
