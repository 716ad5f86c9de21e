import type { Command } from 'commander';
import { addEpochCommands } from './keys/epochs.js';
import { addRewrapCommand } from './keys/rewrap.js';
import { addStatusCommand } from './keys/status.js';

export const addKeysCommands = (keys: Command): void => {
  keys.addHelpText(
    'after',
    `
Not to be confused with "ops key", which is about API keys.

A rotation of ENCRYPTION_KEYS, without a stop:
  1. Append the new key to ENCRYPTION_KEYS of every process and restart them one by one: all can open with it.
  2. Put the new key first and restart them one by one: from now on it seals.
  3. ops keys rewrap --yes
  4. ops keys status shows nothing sealed with the old key: take it out of ENCRYPTION_KEYS.
Backups made before step 3 still need the old key. DIGEST_KEY cannot be rotated: reading ids are made with it.`,
  );
  addStatusCommand(keys);
  addRewrapCommand(keys);
  addEpochCommands(keys);
};
