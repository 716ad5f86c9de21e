import { fingerprintOf } from '#platform/crypto/epochs/epoch.js';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import type { EpochRow } from '#platform/crypto/epochs/epoch-rows.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';

/** `another`: the key there is not the one that wrapped. `destroyed`: the keeper itself remembers that. */
export type Found = 'opens' | 'another' | 'missing' | 'destroyed';

/** What the keeper of an epoch's key has, whatever PostgreSQL says of the epoch. @throws KeysUnavailable */
export const keyFound = async (
  keys: Pick<EpochKeys, 'storeOf'>,
  { epoch, provider, stored, fingerprint }: EpochRow,
): Promise<Found> => {
  const key = await keys.storeOf(provider).open(epoch, stored);
  if (typeof key === 'string') return key;
  return fingerprint === null || fingerprintOf(epoch, key).equals(fingerprint) ? 'opens' : 'another';
};

/** Whether the key that wrapped is there and opens; a key that does not open is as good as none. */
export const keyOpens = async (keys: Pick<EpochKeys, 'storeOf'>, row: EpochRow): Promise<boolean> => {
  try {
    return (await keyFound(keys, row)) === 'opens';
  } catch (error) {
    if (error instanceof KeysUnavailable) return false;
    throw error;
  }
};
