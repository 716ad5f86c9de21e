import type { Command } from 'commander';
import { isAnother, EpochRows, type EpochKeys, type EpochRow } from '#platform/crypto/epochs/epoch-keys.js';
import {
  boundsOf,
  epochStatus,
  KeyUpkeep,
  upkeepSettings,
  type EpochStatus,
} from '#platform/crypto/epochs/key-upkeep.js';
import { countByKey } from '#platform/crypto/rewrapping.js';
import { SUBJECT_KEY_COLUMN } from '#platform/crypto/subject-keys.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { createLogger } from '#platform/telemetry/logger.js';
import { CountSecretsByKey, RewrapSecrets } from '#webhooks/contracts/index.js';
import { OpsError, print, tableOf, withProgress } from '../output.js';
import { withSession, type Session } from '../session.js';
import { example } from './options.js';

interface Confirmed {
  readonly yes?: true;
}

const YES = ['--yes', 'do it; without this, nothing changes'] as const;

const addKeysCommands = (keys: Command): void => {
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
  keys
    .command('status')
    .description(
      'what each key has sealed, and when each is destroyed; exit 1 when one is overdue or missing',
    )
    .addHelpText('after', example('keys status --json'))
    .action(async (_: object, command: Command) => {
      const { provider, current, sealed, epochs } = await withSession(async (session) => {
        const found = await holdingsOf(session);
        const counted = await Promise.all(
          found.map(async ({ what, current: sealing, count }) =>
            [...(await count())].map(([key, rows]) => ({ what, key, current: key === sealing, count: rows })),
          ),
        );
        return {
          provider: session.config.KEY_DIRECTORY ? 'file' : 'environment',
          current: session.ring.currentKeyId,
          sealed: counted.flat(),
          epochs: await shownEpochs(session),
        };
      });
      const nextDestruction = epochs.flatMap(({ destroyAt }) => destroyAt ?? []).sort()[0] ?? null;
      const overdue = epochs.filter(({ state }) => state === 'overdue').length;
      const gone = epochs.filter(({ rows, opens }) => rows > 0 && !opens).length;
      const text = [
        `Key keeper: "${provider}" wraps the keys of readings.`,
        '',
        tableOf(epochs, {
          epoch: 'epoch',
          provider: 'provider',
          state: ({ opens, state }) => (opens || state === 'destroyed' ? state : `${state}, gone`),
          began: ({ startedAt }) => startedAt.slice(0, 16),
          ended: ({ endsAt }) => endsAt?.slice(0, 16),
          rows: 'rows',
          destroyed: ({ destroyedAt, destroyAt }) =>
            destroyedAt?.slice(0, 16) ?? (destroyAt ? `due ${destroyAt.slice(0, 16)}` : ''),
        }),
        '',
        sealed.length > 0
          ? tableOf(sealed, {
              sealed: 'what',
              key: 'key',
              current: (one) => (one.current ? 'yes' : 'no'),
              rows: 'count',
            })
          : `Nothing is sealed yet; ${current} will seal.`,
        ...epochs.filter((one) => one.provider === 'environment').flatMap(adviceOf),
        ...(gone > 0
          ? [`${gone} keys that wrap readings cannot be opened: is the key keeper configured correctly?`]
          : []),
        ...(overdue > 0 ? [`${overdue} overdue: the worker’s log says why (docs/runbook.md).`] : []),
      ];
      const value = { provider, current, sealed, epochs, nextDestruction, overdue, gone };
      print(command, value, text, overdue + gone > 0);
    });

  keys
    .command('rewrap')
    .description('seal with the current keys what older ones sealed; exit 1 when something cannot be opened')
    .option('--yes', 'do it; without this, only show how much there is to do')
    .addHelpText('after', '\nYou may stop it and run it again at any time.')
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      const { current, sealed } = await withSession(async (session) => {
        const done = [];
        // Starts the current epoch if there is none, so that it has a name.
        if (yes) await session.keys.current();
        for (const { what, current: key, count, rewrap } of await holdingsOf(session)) {
          const others = [...(await count())].filter(([id]) => id !== key);
          const due = others.reduce((sum, [, rows]) => sum + rows, 0);
          const { rewrapped, unopened } = yes
            ? await withProgress(what, (progress) =>
                rewrap((seen) => progress?.(seen, Math.max(due, seen, 1))),
              )
            : { rewrapped: 0, unopened: [] };
          done.push({ what, current: key, due, rewrapped, unopened });
        }
        return { current: session.ring.currentKeyId, sealed: done };
      });
      const lines = sealed.flatMap(({ what, current: key, due, rewrapped, unopened }) => [
        yes
          ? `${what}: ${rewrapped} of ${due} sealed again with ${key}`
          : `${what}: ${due} to seal with ${key ?? 'the key of the next epoch'}`,
        ...unopened.map((id) => `  no available key opens ${id}`),
      ]);
      const text = [...lines, ...(yes ? [] : ['Add --yes to do it.'])];
      const isShut = sealed.some(({ unopened }) => unopened.length > 0);
      print(command, { current, done: yes, sealed }, text, isShut);
    });

  keys
    .command('advance')
    .description('end the current epoch early and start the next one')
    .option(...YES)
    .addHelpText(
      'after',
      `
Data erased before this command stays readable in backups until the retention of the ended epoch is over, and not a
week longer. The worker rewraps surviving keys within a minute; "ops keys rewrap --yes" does it now.`,
    )
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      const answer = await withSession(async (session) => {
        if (session.keys.store === null)
          throw new OpsError('KEY_DIRECTORY is not set: rotate ENCRYPTION_KEYS instead (ops keys --help).');
        const former = await session.keys.wrapsNow();
        return { done: yes, former, current: yes ? await upkeepOf(session).advance() : former };
      });
      const text = yes
        ? `${answer.former ?? 'No epoch'} has ended; ${answer.current} wraps new keys.`
        : `Would end ${answer.former ?? 'no epoch'}. Add --yes to do it.`;
      print(command, answer, text);
    });

  keys
    .command('retire')
    .description(
      'destroy for good the keys whose retention is over, as the worker does; exit 1 when one must wait',
    )
    .option(...YES)
    .action(async ({ yes }: Confirmed, command: Command) => {
      if (!yes)
        return print(command, { done: false }, 'ops keys status shows what is due. Add --yes to destroy it.');
      const { destroyed, waiting } = await withSession((session) => upkeepOf(session).retire());
      const lines = [
        ...destroyed.map((epoch) => `destroyed ${epoch}`),
        ...waiting.map(({ epoch, why }) => `not yet ${epoch}: ${why}`),
      ];
      const text = lines.length > 0 ? lines : 'No key is due.';
      print(command, { done: true, destroyed, waiting }, text, waiting.length > 0);
    });

  keys
    .command('forget')
    .description('declare the lost key of an epoch destroyed: everything it wrapped then counts as erased')
    .argument(...EPOCH)
    .option(...YES)
    .option('--all-keys-lost', 'also when no key is left where they should be')
    .addHelpText(
      'after',
      `
While a key is missing, its readings answer 503 and their jobs retry, in case the key returns. Before you forget it, look
in the mirror of keys (ops backup --keys-to): the next backup destroys that copy. If the key is found later, put its
file back: ops keys remember.`,
    )
    .action(async (epoch: string, options: Parameters<typeof forgetEpoch>[2], command: Command) => {
      const readings = await withSession((session) => forgetEpoch(session, epoch, options));
      const text = options.yes
        ? `${epoch} now counts as destroyed: nobody can read the ${readings} readings that it wraps.`
        : `Would declare ${epoch} destroyed: nobody could read the ${readings} readings that it wraps. Add --yes to do it.`;
      print(command, { epoch, done: options.yes ?? false, readings }, text);
    });

  keys
    .command('remember')
    .description('take ops keys forget back, for an epoch whose key was found: its readings open again')
    .argument(...EPOCH)
    .option(...YES)
    .addHelpText('after', example('keys remember 20261116T000000Z --yes'))
    .action(async (epoch: string, options: Confirmed, command: Command) => {
      const readings = await withSession((session) => rememberEpoch(session, epoch, options));
      const text = options.yes
        ? `${epoch} counts as ended, and no longer as destroyed: its ${readings} readings open again.`
        : `Would take the mark of ${epoch} back: its ${readings} readings would open again. Add --yes to do it.`;
      print(command, { epoch, done: options.yes ?? false, readings }, text);
    });
};

type Counts = ReadonlyMap<string, number>;

interface Holding {
  readonly what: string;
  /** The id of the key that seals this now; `null` when the next seal creates it. */
  readonly current: string | null;
  readonly count: () => Promise<Counts>;
  readonly rewrap: (
    onProgress: (seen: number) => void,
  ) => Promise<{ readonly rewrapped: number; readonly unopened: readonly string[] }>;
}

const upkeepOf = ({ pool, ring, keys, time, config }: Session): KeyUpkeep =>
  new KeyUpkeep({ pool, ring, keys, time, log: createLogger('ops', 'silent') }, upkeepSettings(config));

const holdingsOf = async (session: Session): Promise<readonly Holding[]> => {
  const { pool, ring, keys, commands, queries } = session;
  return [
    {
      what: 'keys of readings',
      current: await keys.wrapsNow(),
      count: () => countByKey(pool, SUBJECT_KEY_COLUMN),
      rewrap: (onProgress) => upkeepOf(session).rewrapAll(onProgress),
    },
    {
      what: 'webhook secrets',
      current: ring.currentKeyId,
      count: () => queries.execute(new CountSecretsByKey()),
      rewrap: (onProgress) => commands.execute(new RewrapSecrets(onProgress)),
    },
    ...(keys.store ? [keys.store] : []).map((store) => ({
      what: 'keys of epochs',
      current: ring.currentKeyId,
      count: () => store.sealedBy(),
      rewrap: async () => ({ rewrapped: await store.reseal(), unopened: [] }),
    })),
  ];
};

const shownEpochs = async ({ pool, config, keys, ring }: Session) => {
  const epochs = await epochStatus(pool, boundsOf(config));
  const opens = ({ epoch, provider }: EpochStatus): boolean | Promise<boolean> =>
    provider === 'environment'
      ? ring.has(epoch)
      : keys.named(epoch).then(
          () => true,
          () => false,
        );
  return Promise.all(epochs.map(async (one) => ({ ...one, opens: await opens(one) })));
};

/** With ENCRYPTION_KEYS alone, the operator ends an epoch. */
const adviceOf = ({ epoch, state, startedAt }: EpochStatus): readonly string[] => {
  if (state === 'current')
    return [
      `${epoch} has sealed since ${startedAt.slice(0, 10)}: until you rotate it out, anyone with this key and an old backup can read erased data.`,
    ];
  return state === 'due' || state === 'overdue'
    ? [`${epoch} is due: remove it from ENCRYPTION_KEYS and destroy every copy.`]
    : [];
};

const EPOCH = ['<epoch>', 'the epoch, as shown by ops keys status'] as const;

type Parts = Pick<Session, 'pool' | 'keys'>;
type Keys = Pick<EpochKeys, 'store' | 'requireStore'>;
type Row = Pick<EpochRow, 'epoch' | 'provider' | 'fingerprint' | 'destroyedAt'>;

/** `another`: the key there is not the one that wrapped. `destroyed`: the keeper itself remembers that. */
type Found = 'opens' | 'another' | 'missing' | 'destroyed';

/** What the keeper of an epoch's key has, whatever PostgreSQL says of the epoch. @throws KeysUnavailable */
const keyFound = async (keys: Pick<EpochKeys, 'requireStore'>, row: Row): Promise<Found> => {
  const key = await keys.requireStore().open(row.epoch);
  if (typeof key === 'string') return key;
  return isAnother(row, key) ? 'another' : 'opens';
};

/** @throws OpsError when there is a reason against what was found */
const refuse = (found: Found, reasons: Partial<Record<Found, string>>): void => {
  const reason = reasons[found];
  if (reason !== undefined) throw new OpsError(reason);
};

/** Whether the key that wrapped is there and opens; a key that does not open is as good as none. */
export const keyOpens = async (keys: Pick<EpochKeys, 'requireStore'>, row: Row): Promise<boolean> => {
  try {
    return (await keyFound(keys, row)) === 'opens';
  } catch (error) {
    if (error instanceof KeysUnavailable) return false;
    throw error;
  }
};

/**
 * A mirror of an unmounted, wrong or damaged KEY_DIRECTORY would be worthless.
 * @throws OpsError that names the first epoch whose key should be there and is not
 */
export const requireEpochKeys = async (rows: readonly Row[], keys: Keys): Promise<void> => {
  for (const row of rows) {
    const obstacle = row.provider === 'file' && row.destroyedAt === null ? await obstacleOf(keys, row) : null;
    if (obstacle === null) continue;
    throw new OpsError(
      `${obstacle} The mirror is unchanged. Mount the right KEY_DIRECTORY, or copy the key back from the mirror. If it is lost permanently: ops keys forget ${row.epoch}. To back up everything but the keys: --without-keys.`,
    );
  }
};

/** PostgreSQL records a destruction after the folder does. */
const obstacleOf = async (keys: Keys, row: Row): Promise<string | null> => {
  if (keys.store === null) return `KEY_DIRECTORY is not set, but epoch ${row.epoch} has its key there.`;
  try {
    const found = await keyFound(keys, row);
    if (found === 'missing') return `The key of epoch ${row.epoch} is not in KEY_DIRECTORY.`;
    return found === 'another'
      ? `KEY_DIRECTORY has another key for epoch ${row.epoch} than the one that wrapped.`
      : null;
  } catch (error) {
    if (error instanceof KeysUnavailable) return `${error.message}.`;
    throw error;
  }
};

/**
 * @param allKeysLost that no key is left, which otherwise means that the wrong place is configured
 * @returns how many readings the epoch wraps @throws OpsError when the key is there, or no other one
 */
export const forgetEpoch = async (
  { pool, keys }: Parts,
  epoch: string,
  { yes, allKeysLost }: Confirmed & { readonly allKeysLost?: true },
): Promise<number> => {
  const rows = new EpochRows(pool);
  const row = await requireEpoch(rows, epoch);
  if (row.destroyedAt !== null) throw new OpsError(`The key of ${epoch} counts as destroyed already.`);
  refuse(await keyFound(keys, row), {
    opens: `The key of ${epoch} is present: nothing is lost.`,
    destroyed: `KEY_DIRECTORY records that the key of ${epoch} was destroyed: nothing is to be declared.`,
    another: `KEY_DIRECTORY has another key for ${epoch} than the one that wrapped. Is it the right one? If it is, move that key away first.`,
  });
  const readings = await readingsOf(pool, epoch);
  const expected = (await rows.all()).filter(
    ({ provider, destroyedAt }) => provider === row.provider && destroyedAt === null,
  );
  const open = await Promise.all(expected.map((one) => keyOpens(keys, one)));
  if (!allKeysLost && !open.includes(true))
    throw new OpsError(
      `KEY_DIRECTORY has none of the ${expected.length} keys that should be there: is it the right one, and mounted? Nothing was changed. ${epoch} wraps ${readings} readings, which nobody could read again. If all keys are lost permanently, add --all-keys-lost.`,
    );
  if (yes) await rows.markDestroyed(epoch);
  return readings;
};

/** Takes {@link forgetEpoch} back. @throws OpsError when the key is not there, or was really destroyed */
export const rememberEpoch = async (
  { pool, keys }: Parts,
  epoch: string,
  { yes }: Confirmed,
): Promise<number> => {
  const rows = new EpochRows(pool);
  const row = await requireEpoch(rows, epoch);
  if (row.destroyedAt === null) throw new OpsError(`The key of ${epoch} does not count as destroyed.`);
  refuse(await keyFound(keys, row), {
    missing: `The key of ${epoch} is not in KEY_DIRECTORY: put ${epoch}.key there first.`,
    destroyed: `KEY_DIRECTORY records that the key of ${epoch} was destroyed. That cannot be undone.`,
    another: `KEY_DIRECTORY has another key for ${epoch} than the one that wrapped.`,
  });
  if (yes) await rows.unmarkDestroyed(epoch);
  return readingsOf(pool, epoch);
};

const requireEpoch = async (rows: EpochRows, epoch: string): Promise<EpochRow> => {
  const row = await rows.find(epoch);
  if (!row || row.provider === 'environment') throw new OpsError(`There is no epoch ${epoch}.`);
  return row;
};

const readingsOf = async (pool: Parts['pool'], epoch: string): Promise<number> =>
  (await countByKey(pool, SUBJECT_KEY_COLUMN)).get(epoch) ?? 0;

export const commands = { keys: addKeysCommands };
