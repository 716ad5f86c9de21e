import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export { removeDataFolder } from '../../apps/embedded/src/data-folder.js';

/** Creates an empty DATA_DIR in the system's temporary folder. */
export const temporaryDataDir = (): string => mkdtempSync(join(tmpdir(), 'reading-service-test-'));
