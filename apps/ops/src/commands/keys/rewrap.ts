import type { Command } from 'commander';
import { print } from '../../output.js';
import { withProgress } from '../../progress.js';
import { withSession } from '../../session.js';
import { holdingsOf, sum, type Counts } from './holdings.js';

const sealedByOthers = (counts: Counts, current: string | null): number =>
  sum(counts.values()) - ((current !== null && counts.get(current)) || 0);

export const addRewrapCommand = (keys: Command): void => {
  keys
    .command('rewrap')
    .description(
      'seal again with the current keys what older keys sealed; exit 1 when something cannot be opened',
    )
    .option('--yes', 'do it; without this, only show how much there is to do')
    .addHelpText(
      'after',
      '\nYou may stop it and run it again at any time.\n\nExamples:\n  ops keys rewrap\n  ops keys rewrap --yes --json',
    )
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      const { current, done } = await withSession(async (session) => {
        const done = [];
        // Starts the current epoch if there is none, so that it has a name.
        if (yes) await session.keys.current();
        for (const { what, current, count, rewrap: renew } of await holdingsOf(session)) {
          const due = sealedByOthers(await count(), current);
          const { rewrapped, unopened } = yes
            ? await withProgress(what, (progress) =>
                renew((seen) => progress?.(seen, Math.max(due, seen, 1))),
              )
            : { rewrapped: 0, unopened: [] };
          done.push({ what, current, due, rewrapped, unopened });
        }
        return { current: session.ring.currentKeyId, done };
      });
      const lines = done.map(({ what, current: key, due, rewrapped, unopened }) =>
        [
          yes
            ? `${what}: ${rewrapped} of ${due} sealed again with ${key}`
            : `${what}: ${due} to seal with ${key ?? 'the key of the next epoch'}`,
          ...unopened.map((id) => `  no available key opens ${id}`),
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
