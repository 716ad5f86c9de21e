import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { IdempotentRequests } from '@app/platform/idempotency/idempotent-requests.js';
import { TokenBuckets } from '@app/platform/rate-limit/token-buckets.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';

const EVERY_MS = 600_000;

/** Deletes what only takes up space: token buckets of callers who have gone, and answers to repeated requests after their seven days. */
export const housekeeping = (pool: Pool, log: Pick<Logger, 'warn'>): WorkLoop => ({
  name: 'housekeeping',
  async run(signal) {
    const buckets = new TokenBuckets(pool);
    const requests = new IdempotentRequests(pool);
    while (!signal.aborted) {
      await Promise.all([buckets.forget(), requests.forget()]).catch((error: unknown) => {
        log.warn({ reason: (error as Error).message }, 'what is outdated could not be deleted');
      });
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});
