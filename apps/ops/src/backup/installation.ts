import { Digester } from '@app/platform/crypto/digest.js';
import type { Config } from '../../../service/src/settings.js';

/** Names an installation in its backups and mirrors. Stays the same as long as `DIGEST_KEY`; reveals nothing of it. */
export const installationOf = ({ DIGEST_KEY }: Pick<Config, 'DIGEST_KEY'>): string =>
  new Digester(DIGEST_KEY).digest('installation of a backup').toString('hex').slice(0, 32);
