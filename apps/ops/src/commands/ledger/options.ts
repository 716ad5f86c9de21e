import { InvalidArgumentError, Option } from 'commander';
import { MODES } from '@app/event-sourcing/core/mode.js';
import { OpsError } from '../../ops-error.js';

export interface Chosen {
  readonly workspace?: string;
  readonly all?: true;
}

/** The workspace, or `null` for all. @throws OpsError unless exactly one of the two was chosen */
export const chosenWorkspace = ({ workspace, all }: Chosen): string | null => {
  if ((workspace === undefined) === (all === undefined)) {
    throw new OpsError('Choose either --workspace <id> or --all.');
  }
  return workspace ?? null;
};

const MOST_THREADS = 64;

/** For commands that read all books. */
export const threadsOption = (): Option =>
  new Option('--threads <n>', 'threads that judge books at the same time; 1: none but its own')
    .argParser(parseThreads)
    .default('auto', 'from the number of books and cores');

const parseThreads = (text: string): number => {
  const threads = Number(text);
  if (!Number.isInteger(threads) || threads < 1 || threads > MOST_THREADS)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${MOST_THREADS}`);
  return threads;
};

/** A calendar month in UTC, `yyyy-mm`. */
export const parsePeriod = (text: string): string => {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) {
    throw new InvalidArgumentError('must be a month such as 2026-04');
  }
  return text;
};

/** Whose books a command reads: the live ones, unless it says otherwise. */
export const modeOption = (): Option =>
  new Option('--mode <mode>', 'live, or test: the books of test readings, which have no money value')
    .choices([...MODES])
    .default('live');
