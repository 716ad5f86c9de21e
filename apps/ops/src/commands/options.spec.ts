import { expect, it } from '@jest/globals';
import { Command } from 'commander';
import { addBackupCommands, addRestoreCommand } from './backup.js';
import { parseInstant } from './options.js';

it.each([
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-04-01T02:00:00+02:00', '2026-04-01T00:00:00.000Z'],
  ['2026-02-30T12:00:00Z', null],
])('%s is a day or an instant that exists: %s', (text, instant) => {
  if (instant === null) expect(() => parseInstant(text)).toThrow(/a day that exists, or an RFC 3339 instant/);
  else expect(parseInstant(text)).toBe(Date.parse(instant));
});

it.each([
  [['backup', '--to', '', '--keys-to', 'keys'], /'--to <folder>' .*must not be empty/],
  [['backup', '--to', 'new', '--keys-to', ''], /'--keys-to <folder>' .*must not be empty/],
  [['backup', 'verify', ''], /'folder'.*must not be empty/],
  [['restore', '--from', 'backup', '--keys='], /'--keys <folder>' .*must not be empty/],
  [['restore', '--from', 'backup', '--without-keys'], /would run/],
])('An empty folder, as an unset variable leaves it, is refused by its name: %j', async (args, refusal) => {
  const ops = new Command('ops').hook('preAction', () => {
    throw new Error('would run');
  });
  addBackupCommands(ops.command('backup'));
  addRestoreCommand(ops.command('restore'));
  const quiet = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    command.commands.forEach(quiet);
  };
  quiet(ops);
  await expect(ops.parseAsync(args, { from: 'user' })).rejects.toThrow(refusal);
});
