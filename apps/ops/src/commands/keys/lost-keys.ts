import { EpochRows, type EpochRow } from '#platform/crypto/epochs/epoch-rows.js';
import { countByKey } from '#platform/crypto/rewrapping.js';
import { SUBJECT_KEY_COLUMN } from '#platform/crypto/subject-keys.js';
import { OpsError } from '../../ops-error.js';
import type { Session } from '../../session.js';
import { keyFound, keyOpens } from './key-found.js';

type Parts = Pick<Session, 'pool' | 'keys'>;

interface Confirmed {
  /** Without it, everything is checked and nothing changes. */
  readonly yes: boolean;
}

/**
 * Marks the lost key of an epoch as destroyed.
 * @param allKeysLost that no key is left, which otherwise means that the wrong place is configured
 * @returns how many readings it wraps
 * @throws OpsError when the key is there, or the place has none of the keys that should be there
 */
export const forgetEpoch = async (
  { pool, keys }: Parts,
  epoch: string,
  { yes, allKeysLost }: Confirmed & { readonly allKeysLost: boolean },
): Promise<number> => {
  const rows = new EpochRows(pool);
  const row = await requireEpoch(rows, epoch);
  if (row.destroyedAt !== null) throw new OpsError(`The key of ${epoch} counts as destroyed already.`);
  const found = await keyFound(keys, row);
  if (found === 'opens') throw new OpsError(`The key of ${epoch} is present: nothing is lost.`);
  if (found === 'destroyed')
    throw new OpsError(
      `KEY_DIRECTORY records that the key of ${epoch} was destroyed: there is nothing to declare.`,
    );
  if (found === 'another')
    throw new OpsError(
      `KEY_DIRECTORY has another key for ${epoch} than the one that wrapped. Is it the right one? If it is, move that key away first.`,
    );
  const readings = await readingsOf(pool, epoch);
  const expected = (await rows.all()).filter(
    ({ provider, destroyedAt }) => provider === row.provider && destroyedAt === null,
  );
  if (!allKeysLost && !(await anyOpens(keys, expected)))
    throw new OpsError(
      `KEY_DIRECTORY has none of the ${expected.length} keys that should be there: is it the right one, and mounted? Nothing was changed. ${epoch} wraps ${readings} readings, which nobody could read again. If all keys are lost permanently, add --all-keys-lost.`,
    );
  if (yes) await rows.markDestroyed(epoch);
  return readings;
};

/**
 * Takes back what {@link forgetEpoch} did, for a key that is there after all.
 * @returns how many readings it wraps
 * @throws OpsError when the key is not there, or was really destroyed
 */
export const rememberEpoch = async (
  { pool, keys }: Parts,
  epoch: string,
  { yes }: Confirmed,
): Promise<number> => {
  const rows = new EpochRows(pool);
  const row = await requireEpoch(rows, epoch);
  if (row.destroyedAt === null) throw new OpsError(`The key of ${epoch} does not count as destroyed.`);
  const found = await keyFound(keys, row);
  if (found === 'missing')
    throw new OpsError(`The key of ${epoch} is not in KEY_DIRECTORY: put ${epoch}.key there first.`);
  if (found === 'destroyed')
    throw new OpsError(
      `KEY_DIRECTORY records that the key of ${epoch} was destroyed. That cannot be undone.`,
    );
  if (found === 'another')
    throw new OpsError(`KEY_DIRECTORY has another key for ${epoch} than the one that wrapped.`);
  if (yes) await rows.unmarkDestroyed(epoch);
  return readingsOf(pool, epoch);
};

const requireEpoch = async (rows: EpochRows, epoch: string): Promise<EpochRow> => {
  const row = await rows.find(epoch);
  if (!row || row.provider === 'environment') throw new OpsError(`There is no epoch ${epoch}.`);
  return row;
};

const readingsOf = async (pool: Parts['pool'], epoch: string): Promise<number> =>
  (await countByKey(pool, SUBJECT_KEY_COLUMN)).get(epoch) ?? 0;

const anyOpens = async (keys: Parts['keys'], rows: readonly EpochRow[]): Promise<boolean> => {
  for (const row of rows) if (await keyOpens(keys, row)) return true;
  return false;
};
