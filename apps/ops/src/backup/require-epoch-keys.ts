import { fingerprintOf } from '#platform/crypto/epochs/epoch.js';
import type { EpochRow } from '#platform/crypto/epochs/epoch-rows.js';
import type { EpochKeyStore } from '#platform/crypto/epochs/key-store.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { OpsError } from '../ops-error.js';

type Row = Pick<EpochRow, 'epoch' | 'provider' | 'fingerprint' | 'destroyedAt'>;

/**
 * Requires that KEY_DIRECTORY has the key of every epoch that PostgreSQL records as living there. A mirror of an unmounted,
 * wrong or damaged folder would be worthless.
 * @param store of KEY_DIRECTORY; `null` without that setting
 * @throws OpsError that names the first epoch without its key
 */
export const requireEpochKeys = async (
  rows: readonly Row[],
  store: Pick<EpochKeyStore, 'open'> | null,
): Promise<void> => {
  for (const row of rows) {
    if (row.provider !== 'file' || row.destroyedAt !== null) continue;
    const obstacle = await obstacleOf(row, store);
    if (obstacle === null) continue;
    throw new OpsError(
      `${obstacle} The mirror is unchanged. Mount the right KEY_DIRECTORY, or copy the key back from the mirror. If it is lost permanently: ops keys forget ${row.epoch}. To back up everything but the keys: --without-keys.`,
    );
  }
};

const obstacleOf = async (
  { epoch, fingerprint }: Row,
  store: Pick<EpochKeyStore, 'open'> | null,
): Promise<string | null> => {
  if (store === null) return `KEY_DIRECTORY is not set, but epoch ${epoch} has its key there.`;
  const key = await opened(store, epoch);
  if (key instanceof KeysUnavailable) return `${key.message}.`;
  if (key === 'missing') return `The key of epoch ${epoch} is not in KEY_DIRECTORY.`;
  // PostgreSQL records a destruction after the folder does.
  if (key === 'destroyed' || fingerprint === null || fingerprintOf(epoch, key).equals(fingerprint))
    return null;
  return `KEY_DIRECTORY has another key for epoch ${epoch} than the one that wrapped.`;
};

const opened = async (
  store: Pick<EpochKeyStore, 'open'>,
  epoch: string,
): Promise<Buffer | 'destroyed' | 'missing' | KeysUnavailable> => {
  try {
    return await store.open(epoch, null);
  } catch (error) {
    if (error instanceof KeysUnavailable) return error;
    throw error;
  }
};
