import { FindOpenBatches } from '#readings/contracts/index.js';
import type { Session } from '../../session.js';
import { ok, warning, type Finding } from './finding.js';

/** A batch is looked at at least once an hour. */
const LOOKED_AT_WITHIN_MS = 3_600_000;

/** Batches whose customers wait in vain for `batch.ended`: a reading of theirs does not end. */
export const checkBatches = async ({
  queries,
  config,
}: Pick<Session, 'queries'> & {
  readonly config: Pick<Session['config'], 'READING_TIMEOUT_MS'>;
}): Promise<Finding> => {
  const { count, oldest } = await queries.execute(
    new FindOpenBatches(config.READING_TIMEOUT_MS + 2 * LOOKED_AT_WITHIN_MS),
  );
  if (oldest === null) return ok('batches', 'none open for longer than its readings may take');
  const { batchId, workspaceId, waitsFor } = oldest;
  const [first] = waitsFor;
  const cause = first === undefined ? 'although all its readings have' : `because reading ${first} has not`;
  return warning(
    'batches',
    `${count} have not ended, such as ${batchId} of ${workspaceId}, ${cause}`,
    first === undefined
      ? 'No worker runs its job: see the findings about workers and jobs.'
      : `ops streams show reading-${first} and publication-${first} say where it stopped.`,
  );
};
