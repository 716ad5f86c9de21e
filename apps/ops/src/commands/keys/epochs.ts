import type { Command } from 'commander';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { upkeepOf } from './holdings.js';

export const addEpochCommands = (keys: Command): void => {
  keys
    .command('advance')
    .description('end the current epoch early and start the next one')
    .option('--yes', 'do it; without this, nothing changes')
    .addHelpText(
      'after',
      `
Data erased before this command stays readable in backups until the retention of the ended epoch is over, and not a
week longer. The worker rewraps surviving keys within a minute; "ops keys rewrap --yes" does it now.

Examples:
  ops keys advance --yes`,
    )
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      const answer = await withSession(async (session) => {
        if (session.keys.store === null)
          throw new OpsError('KEY_DIRECTORY is not set: rotate ENCRYPTION_KEYS instead (ops keys --help).');
        const former = await session.keys.wrapsNow();
        return { done: yes, former, current: yes ? await upkeepOf(session).advance() : former };
      });
      print(
        command,
        answer,
        yes
          ? `${answer.former ?? 'No epoch'} has ended; ${answer.current} wraps new keys.`
          : `Would end ${answer.former ?? 'no epoch'}. Add --yes to do it.`,
      );
    });

  keys
    .command('retire')
    .description(
      'destroy now the keys whose retention is over, as the worker also does; exit 1 when one must wait',
    )
    .option('--yes', 'do it; without this, nothing changes')
    .addHelpText('after', '\nThis cannot be undone.\n\nExamples:\n  ops keys retire --yes')
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      if (!yes) {
        print(command, { done: false }, 'ops keys status shows what is due. Add --yes to destroy it.');
        return;
      }
      const { destroyed, waiting } = await withSession((session) => upkeepOf(session).retire());
      const lines = [
        ...destroyed.map((epoch) => `destroyed ${epoch}`),
        ...waiting.map(({ epoch, why }) => `not yet ${epoch}: ${why}`),
      ];
      print(
        command,
        { done: true, destroyed, waiting },
        lines.length > 0 ? lines.join('\n') : 'No key is due.',
      );
      if (waiting.length > 0) process.exitCode = 1;
    });
};
