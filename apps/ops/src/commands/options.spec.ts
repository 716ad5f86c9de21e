import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { addBackupCommands } from './backup.js';
import { requireNamed } from './options.js';
import { addRestoreCommand } from './restore.js';

/** Parses the command line as ops does, and stops before the command does anything. */
const parse = (...args: readonly string[]): Promise<unknown> => {
  const ops = new Command('ops').exitOverride().hook('preAction', (_, command) => {
    requireNamed(command);
    throw new Error('would run');
  });
  addBackupCommands(ops.command('backup'));
  addRestoreCommand(ops.command('restore'));
  return ops.parseAsync(args, { from: 'user' });
};

describe('An empty folder, as an unset variable leaves it,', () => {
  it.each([
    [['backup', '--to', '', '--keys-to', 'keys'], '--to is empty: name a folder.'],
    [['backup', '--to', 'new', '--keys-to', ''], '--keys-to is empty: name a folder.'],
    [
      ['backup', '--to', 'new', '--event-store-command', ' '],
      '--event-store-command is empty: name a command.',
    ],
    [['backup', 'verify', ''], '<folder> is empty: name a folder.'],
    [['restore', '--from', '', '--keys', 'keys'], '--from is empty: name a folder.'],
    [['restore', '--from', 'backup', '--keys='], '--keys is empty: name a folder.'],
  ])('is refused by its name: %j', (args, refusal) => expect(parse(...args)).rejects.toThrow(refusal));

  it('is no folder that is named, nor one that is left out', async () => {
    await expect(parse('restore', '--from', 'backup', '--without-keys')).rejects.toThrow('would run');
  });
});
