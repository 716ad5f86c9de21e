import type { Command } from 'commander';
import { addAdoptDigestKeyCommand } from './keys/adopt-digest-key.js';
import { addEpochCommands } from './keys/epochs.js';
import { addForgetCommands } from './keys/forget.js';
import { addRewrapCommand } from './keys/rewrap.js';
import { addStatusCommand } from './keys/status.js';

export const addKeysCommands = (keys: Command): void => {
  keys.addHelpText(
    'after',
    `
For API keys, see "ops key".

To rotate ENCRYPTION_KEYS without downtime:
  1. Append the new key to ENCRYPTION_KEYS of every process and restart them one by one: all can now open with it.
  2. Put the new key first and restart the processes one by one: the new key now seals.
  3. ops keys rewrap --yes
  4. When ops keys status shows nothing sealed with the old key, remove it from ENCRYPTION_KEYS.
Backups made before step 3 still need the old key. DIGEST_KEY cannot be rotated: reading ids are derived from it.`,
  );
  addStatusCommand(keys);
  addRewrapCommand(keys);
  addEpochCommands(keys);
  addForgetCommands(keys);
  addAdoptDigestKeyCommand(keys);
};
