import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { IdempotentRequests } from '#platform/idempotency/idempotent-requests.js';
import { forgetReplacedJobs } from '#platform/jobs/stuck-jobs.js';
import { TokenBuckets } from '#platform/rate-limit/rate-limiter.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';

const EVERY_MS = 600_000;

/**
 * Delete obsolete rows: token buckets of inactive callers, stored answers to idempotent requests after their seven
 * days, and jobs that others have replaced. A loop each, so that none waits for a backlog of another.
 */
export const housekeeping = (pool: Pool, log: Pick<Logger, 'warn'>): readonly WorkLoop[] => {
  const buckets = new TokenBuckets(pool);
  const requests = new IdempotentRequests(pool);
  return [
    repeatedWork('housekeeping.buckets', EVERY_MS, (signal) => buckets.forget(signal), log),
    repeatedWork('housekeeping.answers', EVERY_MS, (signal) => requests.forget(signal), log),
    repeatedWork('housekeeping.jobs', EVERY_MS, () => forgetReplacedJobs(pool), log),
  ];
};
