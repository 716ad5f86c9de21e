import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { IdempotentRequests } from '@app/platform/idempotency/idempotent-requests.js';
import { TokenBuckets } from '@app/platform/rate-limit/token-buckets.js';
import { repeatedWork } from '@app/platform/work/repeated-work.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';

const EVERY_MS = 600_000;

/**
 * Deletes obsolete rows: token buckets of inactive callers, and stored answers to idempotent requests after their seven
 * days.
 */
export const housekeeping = (pool: Pool, log: Pick<Logger, 'warn'>): WorkLoop => {
  const buckets = new TokenBuckets(pool);
  const requests = new IdempotentRequests(pool);
  return repeatedWork(
    'housekeeping',
    EVERY_MS,
    () => Promise.all([buckets.forget(), requests.forget()]),
    log,
  );
};
