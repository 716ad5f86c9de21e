import type { Command } from 'commander';
import { epochStatus, type EpochStatus } from '#platform/crypto/epochs/key-status.js';
import { print, table } from '../../output.js';
import { withSession, type Session } from '../../session.js';
import { holdingsOf } from './holdings.js';

type Shown = EpochStatus & { readonly opens: boolean };

export const addStatusCommand = (keys: Command): void => {
  keys
    .command('status')
    .description(
      'what each key-encryption key has sealed, and when each epoch’s key will be destroyed; exit 1 when one is overdue or missing',
    )
    .addHelpText('after', '\nExamples:\n  ops keys status\n  ops keys status --json')
    .action(async (_: object, command: Command) => {
      const { provider, current, found, epochs } = await withSession(async (session) => ({
        provider: session.config.KEY_DIRECTORY ? 'file' : 'environment',
        current: session.ring.currentKeyId,
        found: await Promise.all(
          (await holdingsOf(session)).map(async ({ what, current, count }) => ({
            what,
            current,
            counts: await count(),
          })),
        ),
        epochs: await shown(session),
      }));
      const sealed = found.flatMap(({ what, counts, current: sealing }) =>
        [...counts].map(([key, count]) => ({ what, key, current: key === sealing, count })),
      );
      const next = epochs.flatMap(({ destroyAt }) => destroyAt ?? []).sort()[0] ?? null;
      const overdue = epochs.filter(({ state }) => state === 'overdue').length;
      const gone = epochs.filter(({ rows, opens }) => rows > 0 && !opens).length;
      const advice = [
        ...epochs.filter((one) => one.provider === 'environment').flatMap(adviceOf),
        ...(gone > 0
          ? [`${gone} keys that wrap readings cannot be opened: is the key keeper configured correctly?`]
          : []),
        ...(overdue > 0 ? [`${overdue} overdue: the worker’s log says why (docs/runbook.md).`] : []),
      ];
      print(
        command,
        { provider, current, sealed, epochs, nextDestruction: next, overdue, gone },
        [
          `Key keeper: "${provider}" wraps the keys of readings.`,
          '',
          table(
            ['epoch', 'provider', 'state', 'began', 'ended', 'rows', 'destroyed'],
            epochs.map((one) => [
              one.epoch,
              one.provider,
              one.opens || one.state === 'destroyed' ? one.state : `${one.state}, gone`,
              one.startedAt.slice(0, 16),
              one.endsAt?.slice(0, 16) ?? '',
              one.rows,
              one.destroyedAt?.slice(0, 16) ?? (one.destroyAt ? `due ${one.destroyAt.slice(0, 16)}` : ''),
            ]),
          ),
          '',
          sealed.length > 0
            ? table(
                ['sealed', 'key', 'current', 'rows'],
                sealed.map(({ what, key, count, current: isCurrent }) => [
                  what,
                  key,
                  isCurrent ? 'yes' : 'no',
                  count,
                ]),
              )
            : `Nothing is sealed yet; ${current} will seal.`,
          ...advice,
        ].join('\n'),
      );
      if (overdue + gone > 0) process.exitCode = 1;
    });
};

const shown = async ({ pool, config, keys, ring }: Session): Promise<readonly Shown[]> => {
  const epochs = await epochStatus(pool, {
    retentionMs: config.KEY_RETENTION_MS,
    noticeMs: config.KEY_DESTROY_NOTICE_MS,
    ringIds: config.ENCRYPTION_KEYS.map(({ id }) => id),
  });
  return Promise.all(
    epochs.map(async (one) => {
      if (one.provider === 'environment') return { ...one, opens: ring.has(one.epoch) };
      const opens = await keys.named(one.epoch).then(
        () => true,
        () => false,
      );
      return { ...one, opens };
    }),
  );
};

/** With ENCRYPTION_KEYS alone, the operator ends an epoch. */
const adviceOf = ({ epoch, state, startedAt }: Shown): readonly string[] => {
  if (state === 'current')
    return [
      `${epoch} has sealed since ${startedAt.slice(0, 10)}: until you rotate it out, anyone with this key and an old backup can read erased data.`,
    ];
  return state === 'due' || state === 'overdue'
    ? [`${epoch} is due: remove it from ENCRYPTION_KEYS and destroy every copy.`]
    : [];
};
