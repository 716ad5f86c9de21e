import type { Config } from '../config/settings.js';
import { Digester } from './digest.js';

/**
 * Names an installation in its database, its backups and mirrors: 32 hex digits. Stays the same as long as `DIGEST_KEY`;
 * reveals nothing of it.
 */
export const installationOf = ({ DIGEST_KEY }: Pick<Config, 'DIGEST_KEY'>): string =>
  new Digester(DIGEST_KEY).digest('installation of a backup').toString('hex').slice(0, 32);
