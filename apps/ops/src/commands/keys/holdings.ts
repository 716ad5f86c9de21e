import { createLogger } from '#platform/telemetry/logger.js';
import { KeyUpkeep, upkeepSettings } from '#platform/crypto/epochs/key-upkeep.js';
import { countByKey } from '#platform/crypto/rewrapping.js';
import { SUBJECT_KEY_COLUMN } from '#platform/crypto/subject-keys.js';
import { CountSecretsByKey, RewrapSecrets } from '#webhooks/contracts/index.js';
import type { Session } from '../../session.js';

export type Counts = ReadonlyMap<string, number>;

/** What a key-encryption key has sealed, and how to seal it again. */
export interface Holding {
  readonly what: string;
  /** The id of the key that seals this now; `null` when the next seal creates it. */
  readonly current: string | null;
  readonly count: () => Promise<Counts>;
  readonly rewrap: (
    onProgress: (seen: number) => void,
  ) => Promise<{ readonly rewrapped: number; readonly unopened: readonly string[] }>;
}

export const upkeepOf = ({ pool, ring, keys, time, config }: Session): KeyUpkeep =>
  new KeyUpkeep({ pool, ring, keys, time, log: createLogger('ops', 'silent') }, upkeepSettings(config));

export const holdingsOf = async (session: Session): Promise<readonly Holding[]> => {
  const { pool, ring, keys, commands, queries } = session;
  return [
    {
      what: 'keys of readings',
      current: await keys.wrapsNow(),
      count: () => countByKey(pool, SUBJECT_KEY_COLUMN),
      rewrap: (onProgress) => upkeepOf(session).rewrapAll(onProgress),
    },
    {
      what: 'webhook secrets',
      current: ring.currentKeyId,
      count: () => queries.execute(new CountSecretsByKey()),
      rewrap: (onProgress) => commands.execute(new RewrapSecrets(onProgress)),
    },
    // Keys of a provider no longer in use are still needed.
    ...keys.stores.map((store) => ({
      what: keys.stores.length > 1 ? `keys of epochs (${store.provider})` : 'keys of epochs',
      current: ring.currentKeyId,
      count: () => store.sealedBy(),
      rewrap: async () => ({ rewrapped: await store.reseal(), unopened: [] }),
    })),
  ];
};

export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0);
