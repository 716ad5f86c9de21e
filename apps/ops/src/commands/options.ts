import { InvalidArgumentError, type Command } from 'commander';
import { parseInstant as canonicalInstant } from '#platform/http/instant.js';
import { OpsError } from '../ops-error.js';

/** A whole number from 1 to 999,999,999. */
export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0');
  return Number(text);
};

/** Text without surrounding space, such as a reference or a reason. */
export const someText = (text: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidArgumentError('must not be empty');
  return trimmed;
};

/** An instant (RFC 3339) or a day (its midnight UTC) that exists, in milliseconds. */
export const parseInstant = (text: string): number => {
  const canonical = canonicalInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (canonical === null)
    throw new InvalidArgumentError(
      'must be a day that exists, or an RFC 3339 instant such as 2026-04-01T00:00:00Z',
    );
  return Date.parse(canonical);
};

const WANTED: Readonly<Record<string, string>> = {
  folder: 'a folder',
  dir: 'a folder',
  file: 'a file',
  command: 'a command',
};

/**
 * Requires that what a command line says of folders, files and commands is not empty, as in `--to "$UNSET"`. An empty path
 * would be the current folder.
 * @throws OpsError that names the option or argument
 */
export const requireNamed = (command: Command): void => {
  const given = [
    ...command.options.map((option) => ({
      name: option.long ?? option.flags,
      kind: /<([a-z]+)>/.exec(option.flags)?.[1],
      value: command.getOptionValue(option.attributeName()) as unknown,
    })),
    ...command.registeredArguments.map((argument, index) => ({
      name: `<${argument.name()}>`,
      kind: argument.name(),
      value: command.args[index] as unknown,
    })),
  ];
  for (const { name, kind = '', value } of given)
    if (WANTED[kind] !== undefined && typeof value === 'string' && value.trim() === '')
      throw new OpsError(`${name} is empty: name ${WANTED[kind]}.`);
};
