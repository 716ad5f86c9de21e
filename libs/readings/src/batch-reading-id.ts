import { uuidFromHash } from '#event-sourcing/core/event-id.js';
import type { Digester } from '#platform/crypto/digest.js';

/** The id of the batch that has this Idempotency-Key. Each mode has keys of its own. */
export const batchIdOf = (
  digester: Digester,
  workspaceId: string,
  livemode: boolean,
  idempotencyKey: string,
): string =>
  uuidFromHash(digester.digest(livemode ? 'batch-id' : 'test-batch-id', workspaceId, idempotencyKey));

/** The id of the reading at this index of a batch, from 0. Nobody can guess it from the id of the batch. */
export const batchReadingId = (digester: Digester, batchId: string, index: number): string =>
  uuidFromHash(digester.digest('batch-reading-id', batchId, String(index)));
