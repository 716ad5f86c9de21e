import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../../config/settings.js';
import type { KeyRing } from '../key-ring.js';
import { EpochKeys } from './epoch-keys.js';
import { FileKeyStore } from './file-key-store.js';
import type { EpochKeyStore } from './key-store.js';

/** The key-encryption keys as configured. A configured store opens; KEY_PROVIDER selects what wraps. */
export const openEpochKeys = (pool: Pool, ring: KeyRing, config: Config): EpochKeys => {
  const stores: EpochKeyStore[] = [];
  if (config.KEY_DIRECTORY) stores.push(new FileKeyStore(resolve(config.KEY_DIRECTORY), ring));
  return new EpochKeys(pool, ring, stores, {
    provider: config.KEY_PROVIDER,
    lengthMs: config.KEY_EPOCH_MS,
    cacheMs: config.KEY_EPOCH_CACHE_MS,
  });
};
