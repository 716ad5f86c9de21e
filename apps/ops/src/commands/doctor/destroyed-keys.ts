import type { Pool } from 'pg';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { EpochRows } from '#platform/crypto/epochs/epoch-rows.js';
import { keyOpens } from '../keys/key-found.js';
import { failure, ok, type Finding } from './finding.js';

/**
 * Whether a key that counts as destroyed still opens: an operator declared it lost while the wrong folder was mounted,
 * or an old copy of the folder came back. Readings that it wraps answer 410, and nothing else destroys such a key.
 */
export const checkDestroyedKeys = async (
  pool: Pool,
  keys: Pick<EpochKeys, 'stores' | 'storeOf'>,
): Promise<Finding> => {
  const check = 'destroyed keys';
  const files = keys.stores.find(({ provider }) => provider === 'file');
  const names = new Set(await files?.list());
  const found: string[] = [];
  // Of other keepers, PostgreSQL's record no longer has what opens the key.
  for (const row of await new EpochRows(pool).all())
    if (
      row.provider === 'file' &&
      row.destroyedAt !== null &&
      names.has(row.epoch) &&
      (await keyOpens(keys, row))
    )
      found.push(row.epoch);
  const [first] = found;
  if (first === undefined) return ok(check, 'no key that counts as destroyed is left');
  return failure(
    check,
    `KEY_DIRECTORY has keys that open, of epochs that count as destroyed: ${found.join(', ')}`,
    `Run ops keys remember ${first} --yes, and so for each: its readings open again, and workers destroy the key when it is due.`,
  );
};
