import { Command, CommanderError } from 'commander';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { faultOf } from '#platform/fault/fault.js';
import { printableLines } from '#platform/text/printable.js';
import { TOP_COMMANDS } from './commands.js';
import { OpsError, tell } from './output.js';

const JSON_HELP = 'print one JSON value instead of text';

/** The commands; each has `--help`. Loads only those that `args` names. */
const program = async (args: readonly string[]): Promise<Command> => {
  const ops = new Command('ops')
    .description(
      'Operates a reading service: the embedded stack on DATA_DIR, or the stores at DATABASE_URL and EVENTSTORE_URL.',
    )
    .option('--json', JSON_HELP)
    // Refusals repeat what was typed, or pasted.
    .configureOutput({ writeErr: (text) => process.stderr.write(printableLines(text)) })
    .exitOverride();
  for (const { name, alias, description, argument, isLeaf, load } of TOP_COMMANDS) {
    const command = ops.command(name).description(description);
    if (alias !== undefined) command.alias(alias);
    if (argument) command.argument(...argument);
    if ([name, alias].some((one) => one !== undefined && args.includes(one))) (await load())(command);
    if (isLeaf) command.option('--json', JSON_HELP);
    acceptJson(command);
  }
  return ops;
};

/** Accepts `--json` after the subcommand too, where people type it. */
const acceptJson = (group: Command): void => {
  for (const command of group.commands) {
    if (command.commands.length === 0) command.option('--json', JSON_HELP);
    acceptJson(command);
  }
};

/** @returns the exit code: 0, or 1 when the command was refused, failed, or found something wrong */
export const run = async (args: readonly string[]): Promise<number> => {
  process.exitCode = 0;
  try {
    await (await program(args)).parseAsync(args, { from: 'user' });
    return process.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    tell(messageOf(error));
    return 1;
  }
};

/** A refusal, a store's fault and an unreadable event say what to do. Anything else is a bug of this program, and is reported as one. */
const messageOf = (error: unknown): string => {
  if (error instanceof OpsError) return error.message;
  const fault = faultOf(error);
  if (fault) return `${capitalised(fault.message)}. ${fault.advice}`;
  if (error instanceof CorruptEvent) return `${error.message}. ops doctor says what to do.`;
  return `Unexpected: ${error instanceof Error ? error.message : 'error'}`;
};

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
