import pg from 'pg';
import type { Pool } from 'pg';
import type { Config } from '../../../../service/src/settings.js';
import { failure, ok, warning, type Finding } from './finding.js';

const CHECK = 'standby';

/** What PostgreSQL says of a standby; `null` where the role may not know it. */
export interface Standby {
  readonly name: string | null;
  readonly state: string | null;
  /** `sync` or `quorum`: a commit waits for it. */
  readonly syncState: string | null;
  /** What it has not replayed (bytes). */
  readonly behind: string | null;
}

export interface Replication {
  readonly standbys: readonly Standby[];
  /** The setting `synchronous_standby_names`; empty: commits wait for nobody. */
  readonly synchronousNames: string;
  /** The setting `synchronous_commit`. */
  readonly synchronousCommit: string;
}

type ReplicationConfig = Pick<Config, 'DATABASE_URL' | 'DATABASE_OWNER_URL'>;

/** Whether a standby is attached, and what a promotion would lose. */
export const checkStandby = async (pool: Pool, config: ReplicationConfig): Promise<Finding> => {
  const { rows: settings } = await pool.query<Omit<Replication, 'standbys'>>(
    `select current_setting('synchronous_standby_names') as "synchronousNames",
            current_setting('synchronous_commit') as "synchronousCommit"`,
  );
  return findingOf({ ...settings[0]!, standbys: await standbysOf(config) });
};

/** Asked as the owner, if possible: the role of API and worker may not know what other roles do. */
const standbysOf = async ({
  DATABASE_URL,
  DATABASE_OWNER_URL,
}: ReplicationConfig): Promise<readonly Standby[]> => {
  const client = new pg.Client({ connectionString: DATABASE_OWNER_URL ?? DATABASE_URL });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Standby>(
      `select application_name as name, state, sync_state as "syncState",
              pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) as behind
       from pg_stat_replication where state is null or state <> 'backup' order by sync_state desc nulls last`,
    );
    return rows;
  } finally {
    await client.end();
  }
};

const LOSS =
  'Set synchronous_standby_names, or know what a promotion loses and how to find it: docs/operations.md, "PostgreSQL with a standby".';

/** What the operator should know about it. */
export const findingOf = ({ standbys, synchronousNames, synchronousCommit }: Replication): Finding => {
  const waits = synchronousNames !== '';
  if (standbys.length === 0)
    return waits
      ? failure(
          CHECK,
          'commits wait for a synchronous standby, and none is attached',
          'Start the standby, or empty synchronous_standby_names and reload the server.',
        )
      : ok(CHECK, 'none is attached: a lost server needs a backup');
  if (standbys.every(({ syncState }) => syncState === null))
    return warning(
      CHECK,
      `${standbys.length} attached; its state is hidden from this role`,
      'As an administrator: grant pg_read_all_stats to the role of DATABASE_OWNER_URL.',
    );
  const described = standbys.map(describe).join(', ');
  const isSafe = standbys.some(({ syncState }) => syncState === 'sync' || syncState === 'quorum');
  if (!isSafe) return warning(CHECK, `${described}: a promotion loses the last commits`, LOSS);
  return ['off', 'local'].includes(synchronousCommit)
    ? warning(
        CHECK,
        `${described}, but synchronous_commit is ${synchronousCommit}: commits do not wait for it`,
        `Set synchronous_commit to on. ${LOSS}`,
      )
    : ok(CHECK, `${described}: a promotion loses no acknowledged commit`);
};

const WAITED_FOR: Readonly<Record<string, string>> = { sync: 'synchronous', quorum: 'synchronous' };

const describe = ({ name, state, syncState, behind }: Standby): string =>
  `${name === null || name === '' ? 'a standby' : name} is ${WAITED_FOR[syncState ?? ''] ?? 'asynchronous'} (${state}), ${behind ?? 'an unknown amount'} behind`;
