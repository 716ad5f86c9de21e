import type { Command } from 'commander';
import { installationOf } from '#platform/crypto/installation.js';
import type { Config } from '../../../../service/src/settings.js';
import { onDatabase } from '../../backup/copy-tables.js';
import { readConnection } from '../../connection.js';
import { print } from '../../output.js';

const HELP = `
Each process compares its DIGEST_KEY with the one that the database was first used with, and works with no other. Adopt
another key only when the former one is lost. Stop API and workers first. What depends on the former key is lost for good:
  - a request repeated under an Idempotency-Key from before makes a second reading, which costs again
  - readings from before are no longer found by their externalId
  - backups and mirrors of keys from before belong to another installation: keep them with that key, and begin new ones

Examples:
  ops keys adopt-digest-key
  ops keys adopt-digest-key --yes`;

/** When the database was first used, and whether with this key. */
export interface NotedInstallation {
  readonly notedAt: string | null;
  readonly isSame: boolean;
}

/**
 * Notes that the database is used with the configured `DIGEST_KEY`. The service's own sessions would be refused, so this
 * one asks nothing.
 * @returns what was noted before
 */
export const adoptDigestKey = async (config: Config, isDone: boolean): Promise<NotedInstallation> => {
  const installation = installationOf(config);
  return onDatabase(config.DATABASE_URL, async (client) => {
    const { rows } = await client.query<{ fingerprint: string; noted_at: Date }>(
      'select fingerprint, noted_at from platform.installation',
    );
    if (isDone)
      await client.query(
        `insert into platform.installation as noted (fingerprint) values ($1)
         on conflict (only_row) do update set fingerprint = excluded.fingerprint, noted_at = now()
         where noted.fingerprint <> excluded.fingerprint`,
        [installation],
      );
    const [before] = rows;
    return {
      notedAt: before?.noted_at.toISOString() ?? null,
      isSame: before?.fingerprint === installation,
    };
  });
};

const shown = ({ notedAt, isSame }: NotedInstallation, isDone: boolean): string => {
  if (isSame)
    return `This DIGEST_KEY is the one that the database is used with since ${notedAt}. Nothing to do.`;
  const former = notedAt === null ? 'no DIGEST_KEY yet' : `another DIGEST_KEY since ${notedAt}`;
  return isDone
    ? `The database was used with ${former}. From now on it is used with this one. Restart API and workers with it.`
    : `The database is used with ${former}. Would adopt this one: see --help for what that loses. Add --yes to do it.`;
};

export const addAdoptDigestKeyCommand = (keys: Command): void => {
  keys
    .command('adopt-digest-key')
    .description('use the database with this DIGEST_KEY, after the former one was lost')
    .option('--yes', 'do it; without this, nothing changes')
    .addHelpText('after', HELP)
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      const before = await adoptDigestKey(readConnection(process.env), yes);
      print(command, { ...before, done: yes && !before.isSame }, shown(before, yes));
    });
};
