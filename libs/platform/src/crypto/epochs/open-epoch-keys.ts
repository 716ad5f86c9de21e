import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../../config/settings.js';
import type { KeyRing } from '../key-ring.js';
import { EpochKeys } from './epoch-keys.js';
import { FileKeyStore } from './file-key-store.js';
import type { EpochKeyStore } from './key-store.js';
import { VaultClient } from './vault-client.js';
import { VaultKeyStore } from './vault-key-store.js';

/** The key-encryption keys as configured. Every configured store opens; KEY_PROVIDER selects the one that wraps. */
export const openEpochKeys = (pool: Pool, ring: KeyRing, config: Config): EpochKeys => {
  const stores: EpochKeyStore[] = [];
  if (config.KEY_DIRECTORY) stores.push(new FileKeyStore(resolve(config.KEY_DIRECTORY), ring));
  if (config.KEY_VAULT_URL) {
    const client = new VaultClient({
      url: config.KEY_VAULT_URL,
      namespace: config.KEY_VAULT_NAMESPACE,
      token: config.KEY_VAULT_TOKEN,
      tokenFile: config.KEY_VAULT_TOKEN_FILE,
      caFile: config.KEY_VAULT_CA_FILE,
      timeoutMs: config.KEY_VAULT_TIMEOUT_MS,
    });
    stores.push(
      new VaultKeyStore(client, { mount: config.KEY_VAULT_MOUNT, prefix: config.KEY_VAULT_PREFIX }),
    );
  }
  return new EpochKeys(pool, ring, stores, {
    provider: config.KEY_PROVIDER,
    lengthMs: config.KEY_EPOCH_MS,
    cacheMs: config.KEY_EPOCH_CACHE_MS,
  });
};
