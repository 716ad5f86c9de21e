import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { addBackupCommands, addRestoreCommand } from './backup.js';
import { parseInstant } from './options.js';

it.each([
  ['2026-02-28', '2026-02-28T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-04-01T02:00:00+02:00', '2026-04-01T00:00:00.000Z'],
])('%s is a day or an instant', (text, instant) => {
  expect(parseInstant(text)).toBe(Date.parse(instant));
});

it.each(['2026-02-29', '2026-02-31', '2026-11-31', '2026-02-30T12:00:00Z', '20261101', '2026-04', 'soon'])(
  '%s is none',
  (text) => {
    expect(() => parseInstant(text)).toThrow(/a day that exists, or an RFC 3339 instant/);
  },
);

/** Parses the command line as ops does, and stops before the command does anything. */
const parse = (...args: readonly string[]): Promise<unknown> => {
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
  return ops.parseAsync(args, { from: 'user' });
};

describe('An empty folder, as an unset variable leaves it,', () => {
  it.each([
    [['backup', '--to', '', '--keys-to', 'keys'], /'--to <folder>' .*must not be empty/],
    [['backup', '--to', 'new', '--keys-to', ''], /'--keys-to <folder>' .*must not be empty/],
    [
      ['backup', '--to', 'new', '--event-store-command', ' '],
      /'--event-store-command <command>' .*must not be empty/,
    ],
    [['backup', 'verify', ''], /'folder'.*must not be empty/],
    [['restore', '--from', '', '--keys', 'keys'], /'--from <folder>' .*must not be empty/],
    [['restore', '--from', 'backup', '--keys='], /'--keys <folder>' .*must not be empty/],
  ])('is refused by its name: %j', (args, refusal) => expect(parse(...args)).rejects.toThrow(refusal));

  it('is no folder that is named, nor one that is left out', async () => {
    await expect(parse('restore', '--from', 'backup', '--without-keys')).rejects.toThrow('would run');
  });
});
