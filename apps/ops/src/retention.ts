import { auditRetention } from '#platform/audit/audit-retention.js';
import { retentionStatus, runRetention } from '#platform/retention/retention.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';
import { LookAtTestReadings } from '#readings/contracts/index.js';
import { LookAtWebhookRetention, RunWebhookRetention } from '#webhooks/contracts/index.js';
import type { Session } from './session.js';

/** A kind that is this many days behind its term says that nobody deletes it. */
export const LAGS_FROM_DAYS = 2;

/** What workers alone delete: an erasure goes through the reading's events, one reading after the other. */
export const BY_WORKERS_ALONE = ['test-readings'];

type Parts = Pick<Session, 'pool' | 'config' | 'queries' | 'commands'>;

/** Every kind of data that workers delete after a term. @param now milliseconds since the epoch */
export const retentionOfAll = async (
  { pool, config, queries }: Omit<Parts, 'commands'>,
  now: number,
): Promise<readonly RetentionStatus[]> => [
  ...(await queries.execute(new LookAtWebhookRetention(now))),
  await queries.execute(new LookAtTestReadings(now)),
  await retentionStatus(pool, auditRetention(pool, config), now),
];

/** One round, as workers make it, without what they alone delete. @param kinds `null`: all others */
export const runRetentions = async (
  { pool, config, commands }: Omit<Parts, 'queries'>,
  now: number,
  kinds: readonly string[] | null,
): Promise<readonly RetentionRun[]> => {
  const runs = await commands.execute(new RunWebhookRetention(now, kinds));
  const audit = auditRetention(pool, config);
  if (kinds !== null && !kinds.includes(audit.kind)) return runs;
  const own = await runRetention(pool, audit, now, new AbortController().signal);
  return own === null ? runs : [...runs, own];
};
