import { expect, it } from '@jest/globals';
import type { RetentionStatus } from '#platform/retention/retention-status.js';
import { LookAtTestReadings } from '#readings/contracts/index.js';
import { checkRetention } from './retention.js';

const NOW = Date.parse('2026-06-01T00:00:00Z');

const check = (
  lags: readonly number[],
  waitsSince: string | null = null,
  nameOf = (index: number) => `kind ${index}`,
) => {
  const kinds = lags.map((lagDays, index): RetentionStatus => ({
    kind: nameOf(index),
    what: 'things',
    setting: 'THINGS_KEPT_DAYS',
    days: 90,
    oldest: null,
    due: { rows: 7, bytes: 0, partitions: null },
    lagDays,
    lastRun: null,
    progress: null,
    waitsSince,
    nextRun: null,
  }));
  const none = { rows: [{ oldest: null, rows: 0, bytes: 0 }] };
  return checkRetention(
    {
      queries: {
        execute: async (query: object) => (query instanceof LookAtTestReadings ? kinds[0] : kinds) as never,
      },
      pool: {
        query: async (text: string) => (text.includes('platform.retention_') ? { rows: [] } : none),
      } as never,
      config: { AUDIT_RETENTION_DAYS: 400 } as never,
    },
    NOW,
  );
};

it('Doctor warns when data is two days behind its term, and fails when it is a week behind', async () => {
  expect(await check([0, 1])).toEqual([expect.objectContaining({ level: 'ok' })]);
  expect(await check([0, 2])).toMatchObject([
    {
      level: 'warning',
      message: 'kind 1 (things) are 2 days behind THINGS_KEPT_DAYS (90): 7 rows are due',
      advice: expect.stringContaining('ops retention run'),
    },
  ]);
  expect(await check([0, 7, 2])).toMatchObject([{ level: 'failure' }, { level: 'warning' }]);
});

it('Doctor does not send an operator to a command that erases no test readings', async () => {
  const [finding] = await check([3], null, () => 'test-readings');
  expect(finding).toMatchObject({ level: 'warning', message: expect.stringContaining('test-readings') });
  expect(finding!.advice).toContain('its log says why');
  expect(finding!.advice).not.toContain('ops retention run');
});

it('Doctor says that deletion waits for an operator after a long pause, even when nothing is late yet', async () => {
  expect(await check([0, 0], '2026-05-01T00:00:00.000Z')).toMatchObject([
    {
      level: 'warning',
      message: 'workers delete nothing after its term: the last round was at 2026-05-01T00:00:00.000Z',
      advice: expect.stringContaining('ops retention run'),
    },
  ]);
});
