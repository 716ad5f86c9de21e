import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../../config/settings.js';
import type { KeyRing } from '../key-ring.js';
import { EpochKeys } from './epoch-keys.js';
import { FileKeyStore } from './file-key-store.js';
import type { EpochKeyStore } from './key-store.js';

/** How long an opened epoch key is kept (ms); twelve times as long while its keeper is unavailable. */
const OPENED_EPOCH_MS = 300_000;

/** The key-encryption keys as configured: those of the epochs in KEY_DIRECTORY, or else ENCRYPTION_KEYS. */
export const openEpochKeys = (pool: Pool, ring: KeyRing, config: Config): EpochKeys => {
  const stores: EpochKeyStore[] = [];
  if (config.KEY_DIRECTORY) stores.push(new FileKeyStore(resolve(config.KEY_DIRECTORY), ring));
  return new EpochKeys(pool, ring, stores, {
    provider: config.KEY_DIRECTORY ? 'file' : 'environment',
    lengthMs: config.KEY_EPOCH_MS,
    cacheMs: OPENED_EPOCH_MS,
  });
};
