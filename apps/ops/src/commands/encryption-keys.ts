import type { Command } from 'commander';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { countByKey, rewrap, type Rewrapped } from '@app/platform/crypto/rewrapping.js';
import { SUBJECT_KEY_COLUMN } from '@app/platform/crypto/subject-keys.js';
import { CountSecretsByKey, RewrapSecrets } from '@app/webhooks/contracts/index.js';
import { print, table } from '../output.js';
import { withProgress } from '../progress.js';
import { withSession, type Session } from '../session.js';

type Counts = ReadonlyMap<string, number>;

/** What a rotation has to seal anew, and how. */
interface Holding {
  readonly what: string;
  readonly count: () => Promise<Counts>;
  readonly rewrap: (onProgress: (seen: number) => void) => Promise<Rewrapped>;
}

const holdings = ({ pool, config, commands, queries }: Session): readonly Holding[] => [
  {
    what: 'keys of readings',
    count: () => countByKey(pool, SUBJECT_KEY_COLUMN),
    rewrap: (onProgress) => rewrap(pool, new KeyRing(config.ENCRYPTION_KEYS), SUBJECT_KEY_COLUMN, onProgress),
  },
  {
    what: 'webhook secrets',
    count: () => queries.execute(new CountSecretsByKey()),
    rewrap: (onProgress) => commands.execute(new RewrapSecrets(onProgress)),
  },
];

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0);
const sealedByOthers = (counts: Counts, current: string): number =>
  sum(counts.values()) - (counts.get(current) ?? 0);

export const addEncryptionKeysCommands = (ops: Command): void => {
  const keys = ops
    .command('encryption-keys')
    .description('rotate the key-encryption key (ENCRYPTION_KEYS), while the service runs')
    .addHelpText(
      'after',
      `
A rotation, without a stop:
  1. Append the new key to ENCRYPTION_KEYS of every process and restart them one by one: all can open with it.
  2. Put the new key first and restart them one by one: from now on it seals.
  3. ops encryption-keys rewrap --yes
  4. ops encryption-keys status shows nothing sealed with the old key: take it out of ENCRYPTION_KEYS.
Backups made before step 3 still need the old key. DIGEST_KEY cannot be rotated: reading ids are made with it.`,
    );

  keys
    .command('status')
    .description('what each key-encryption key has sealed')
    .addHelpText('after', '\nExamples:\n  ops encryption-keys status\n  ops encryption-keys status --json')
    .action(async (_: object, command: Command) => {
      const { current, found } = await withSession(async (session) => ({
        current: new KeyRing(session.config.ENCRYPTION_KEYS).currentKeyId,
        found: await Promise.all(
          holdings(session).map(async ({ what, count }) => ({ what, counts: await count() })),
        ),
      }));
      const sealed = found.flatMap(({ what, counts }) =>
        [...counts].map(([key, count]) => ({ what, key, current: key === current, count })),
      );
      const text = table(
        ['sealed', 'key', 'current', 'rows'],
        sealed.map(({ what, key, count, current: isCurrent }) => [
          what,
          key,
          isCurrent ? 'yes' : 'no',
          count,
        ]),
      );
      print(
        command,
        { current, sealed },
        sealed.length > 0 ? text : `Nothing is sealed yet; ${current} will seal.`,
      );
    });

  keys
    .command('rewrap')
    .description('seal with the current key what other keys sealed; exit 1 when something cannot be opened')
    .option('--yes', 'do it; without this, only tell how much there is to do')
    .addHelpText(
      'after',
      '\nIt may be stopped and run again at any time.\n\nExamples:\n  ops encryption-keys rewrap\n  ops encryption-keys rewrap --yes --json',
    )
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      const { current, done } = await withSession(async (session) => {
        const current = new KeyRing(session.config.ENCRYPTION_KEYS).currentKeyId;
        const done = [];
        for (const { what, count, rewrap: renew } of holdings(session)) {
          const due = sealedByOthers(await count(), current);
          const result = yes
            ? await withProgress(what, (progress) =>
                renew((seen) => progress?.(seen, Math.max(due, seen, 1))),
              )
            : { rewrapped: 0, unopened: [] };
          done.push({ what, due, ...result });
        }
        return { current, done };
      });
      const lines = done.map(({ what, due, rewrapped, unopened }) =>
        [
          yes
            ? `${what}: ${rewrapped} of ${due} sealed anew with ${current}`
            : `${what}: ${due} to seal with ${current}`,
          ...unopened.map((id) => `  no configured key opens ${id}`),
        ].join('\n'),
      );
      const left = sum(done.map(({ unopened }) => unopened.length));
      print(
        command,
        { current, done: yes, sealed: done },
        [...lines, ...(yes ? [] : ['Add --yes to do it.'])].join('\n'),
      );
      if (left > 0) process.exitCode = 1;
    });
};
