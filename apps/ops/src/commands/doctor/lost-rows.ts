import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Session } from '../../session.js';
import { isErased } from '../readings/unreadable.js';
import { FIRST_READING } from '../publications/lost-documents.js';
import { failure, ok, type Finding } from './finding.js';

/** Readings compared in one run. A service with more gets another part of them each time. */
const LOOKED_AT = 20_000;
/** Readings whose stream is read, because they may have been erased a moment ago. */
const ASKED = 10;

/**
 * Keys of readings, and secrets of endpoints, that events say exist and PostgreSQL lacks: it lost its last commits, or
 * rows were deleted.
 */
export const checkLostRows = async (
  { pool, store }: Pick<Session, 'pool' | 'store'>,
  mostLookedAt = LOOKED_AT,
): Promise<readonly Finding[]> =>
  Promise.all([checkKeysOfReadings({ pool, store }, mostLookedAt), checkSecrets(pool)]);

const checkKeysOfReadings = async (
  { pool, store }: Pick<Session, 'pool' | 'store'>,
  mostLookedAt: number,
): Promise<Finding> => {
  const check = 'keys of readings';
  const first = await keyless(pool, FIRST_READING, mostLookedAt);
  const lost = first.length > 0 ? first : await keyless(pool, randomUUID(), mostLookedAt);
  // An erasure destroys the key first, and shows in the row a moment later.
  const asked = lost.slice(0, ASKED);
  const erased = await Promise.all(asked.map((readingId) => isErased(store, readingId)));
  const one = asked.find((_, index) => !erased[index]);
  return one === undefined
    ? ok(check, 'the readings looked at have their keys')
    : failure(
        check,
        `${lost.length} readings that nobody erased lack their key, such as ${one}: nobody can read them`,
        'Wait until ops projections lag shows nothing. ops readings unreadable lists those that were paid; ops readings refund --all proposes their refund.',
      );
};

/** A queued reading fails by itself, and a failed one has nothing to read. */
const keyless = async (pool: Pool, after: string, limit: number): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ reading_id: string }>(
    `select reading_id
     from (select reading_id, status, erased_at from readings.reading
           where reading_id > $1 order by reading_id limit $2) as page
     where status = 'completed' and erased_at is null
       and not exists (select from platform.subject_key where subject_id = page.reading_id)`,
    [after, limit],
  );
  return rows.map(({ reading_id: readingId }) => readingId);
};

const checkSecrets = async (pool: Pool): Promise<Finding> => {
  const check = 'webhook secrets';
  const { rows } = await pool.query<{ endpoint_id: string; workspace_id: string }>(
    `select endpoint_id, workspace_id from webhooks.endpoint
     where deleted_at is null and not exists (
       select from webhooks.secret where secret.secret_ref = (endpoint.secrets -> 0 ->> 'ref')::uuid)
     limit 100`,
  );
  const [one] = rows;
  return one === undefined
    ? ok(check, 'every endpoint has its secret')
    : failure(
        check,
        `${rows.length} endpoints lack their signing secret, such as ${one.endpoint_id} of ${one.workspace_id}: nothing is sent there`,
        'Ask the customer to rotate the secret (POST /api/v1/webhooks/{endpointId}/rotate-secret): what waits is then sent.',
      );
};
