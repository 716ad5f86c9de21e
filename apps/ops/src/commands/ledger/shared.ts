import { InvalidArgumentError, Option } from 'commander';
import { MODES } from '#event-sourcing/core/request-context.js';
import type { UnreadableEntry } from '#billing/contracts/index.js';
import { OpsError } from '../../output.js';

export interface Chosen {
  readonly workspace?: string;
  readonly all?: true;
}

/** The workspace, or `null` for all. @throws OpsError unless exactly one of the two was chosen */
export const chosenWorkspace = ({ workspace, all }: Chosen): string | null => {
  if ((workspace === undefined) === (all === undefined))
    throw new OpsError('Choose either --workspace <id> or --all.');
  return workspace ?? null;
};

/** A calendar month in UTC, `yyyy-mm`. */
export const parsePeriod = (text: string): string => {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('must be a month such as 2026-04');
};

/** Whose books a command reads: the live ones, unless it says otherwise. */
export const modeOption = (): Option =>
  new Option('--mode <mode>', 'live, or test: the books of test readings, which have no money value')
    .choices([...MODES])
    .default('live');

/** @returns the refusal of a month of which a book has nothing */
export const noRecords = (workspace: string, period: string): OpsError =>
  new OpsError(`There are no records of ${workspace} in ${period}.`);

/** What a report says of an event that it passes over by an operator's decision. */
export const passedOver = ({ stream, revision, type, setAside }: UnreadableEntry): string =>
  `Set aside: ${stream}@${revision} (${type}), by ${setAside?.by}: ${setAside?.reason}`;
