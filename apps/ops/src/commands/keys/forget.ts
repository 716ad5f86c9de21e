import type { Command } from 'commander';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { forgetEpoch, rememberEpoch } from './lost-keys.js';

export const addForgetCommands = (keys: Command): void => {
  keys
    .command('forget')
    .description('declare the lost key of an epoch destroyed: everything it wrapped then counts as erased')
    .argument('<epoch>', 'the epoch, as shown by ops keys status')
    .option('--yes', 'do it; without this, nothing changes')
    .option('--all-keys-lost', 'also when no key is left where they should be')
    .addHelpText(
      'after',
      `
While a key is missing, its readings answer 503 and their jobs retry, in case the key returns. Before you forget it, look
in the mirror of keys (ops backup --keys-to): the next backup destroys that copy. If the key is found later, put its
file back: ops keys remember.

Examples:
  ops keys forget 20261116T000000Z
  ops keys forget 20261116T000000Z --yes
  ops keys forget 20261116T000000Z --all-keys-lost --yes`,
    )
    .action(
      async (
        epoch: string,
        { yes = false, allKeysLost = false }: { yes?: boolean; allKeysLost?: boolean },
        command: Command,
      ) => {
        const readings = await withSession((session) => forgetEpoch(session, epoch, { yes, allKeysLost }));
        print(
          command,
          { epoch, done: yes, readings },
          yes
            ? `${epoch} now counts as destroyed: nobody can read the ${readings} readings that it wraps.`
            : `Would declare ${epoch} destroyed: nobody could read the ${readings} readings that it wraps. Add --yes to do it.`,
        );
      },
    );

  keys
    .command('remember')
    .description('take ops keys forget back, for an epoch whose key was found: its readings open again')
    .argument('<epoch>', 'the epoch, as shown by ops keys status')
    .option('--yes', 'do it; without this, nothing changes')
    .addHelpText(
      'after',
      `
Works only while KEY_DIRECTORY has the key, and it opens. Running processes see it within five minutes. The epoch
has ended: workers rewrap what it still wraps, and destroy its key when it is due. What failed meanwhile stays failed.

Examples:
  ops keys remember 20261116T000000Z
  ops keys remember 20261116T000000Z --yes`,
    )
    .action(async (epoch: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const readings = await withSession((session) => rememberEpoch(session, epoch, { yes }));
      print(
        command,
        { epoch, done: yes, readings },
        yes
          ? `${epoch} counts as ended, and no longer as destroyed: its ${readings} readings open again.`
          : `Would take the mark of ${epoch} back: its ${readings} readings would open again. Add --yes to do it.`,
      );
    });
};
