import type { QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import { FindExpiringGrants, FindLowBalances } from '#billing/contracts/index.js';
import { instant } from '#event-sourcing/core/clock.js';
import { FindExpiringKeys, LOW_CREDITS_PERCENT } from '#workspaces/contracts/index.js';
import { creditsExpiring, creditsLow, isLow, keyExpiring } from '../../domain/notice/finding.js';
import type { Look } from './notice-watch.js';

const DAY_MS = 86_400_000;
const GRANT_WARNING_MS = 7 * DAY_MS;
/** A key that lives for a shorter time in all has no notice (docs/webhooks.md). */
const KEY_WARNING_MS = 14 * DAY_MS;

type Queries = Pick<QueryBus, 'execute'>;

/** What the other modules know of credits and keys. */
export const accountLooks = (pool: pg.Pool, queries: Queries): readonly Look[] => [
  async function* (): ReturnType<Look> {
    const percents = await chosenPercents(pool);
    const highest = Math.max(LOW_CREDITS_PERCENT, ...percents.values());
    for await (const found of pages((after) => queries.execute(new FindLowBalances(highest, after))))
      yield found
        .map((one) => ({ ...one, percent: percents.get(one.workspaceId) ?? LOW_CREDITS_PERCENT }))
        .filter(({ available, toppedUpTo, percent }) => isLow(available, toppedUpTo, percent))
        .map(creditsLow);
  },
  async function* (now): ReturnType<Look> {
    const [from, until] = [instant(now), instant(now + GRANT_WARNING_MS)];
    for await (const found of pages((after) => queries.execute(new FindExpiringGrants(from, until, after))))
      yield found.map(creditsExpiring);
  },
  async function* (now): ReturnType<Look> {
    const from = instant(now);
    for await (const found of pages((after) =>
      queries.execute(new FindExpiringKeys(from, KEY_WARNING_MS, after)),
    ))
      yield found.map(keyExpiring);
  },
];

/** The shares that workspaces have chosen; the others have the default. */
const chosenPercents = async (pool: pg.Pool): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await pool.query<{ workspace_id: string; low_credits_percent: number }>(
    'select workspace_id, low_credits_percent from webhooks.content where low_credits_percent <> $1',
    [LOW_CREDITS_PERCENT],
  );
  return new Map(rows.map((row) => [row.workspace_id, row.low_credits_percent]));
};

interface Page<T> {
  readonly found: readonly T[];
  /** Where the next page begins; `null`: there is none. */
  readonly next: string | null;
}

const pages = async function* <T>(read: (after: string) => Promise<Page<T>>): AsyncGenerator<readonly T[]> {
  for (let after: string | null = ''; after !== null;) {
    const { found, next }: Page<T> = await read(after);
    yield found;
    after = next;
  }
};
