import type { Command } from 'commander';
import { GetTestStatement, type TestBalance, type TestStatement } from '#billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { movement } from './movement.js';

interface Options {
  readonly workspace: string;
  readonly period?: string;
  readonly format: 'text' | 'pdf';
}

/** Every movement of a test book, oldest first. It closes no month and has no value, so there is no PDF of it. */
export const printTestStatement = async (
  { workspace, period, format }: Options,
  command: Command,
): Promise<void> => {
  if (format === 'pdf') throw new OpsError('A test book has no PDF statement: leave out --format.');
  const statement = await withSession(async ({ queries, requireWorkspace }) => {
    await requireWorkspace(workspace);
    return queries.execute(new GetTestStatement(workspace, period ?? null));
  });
  if (!statement)
    throw new OpsError(`The test book of ${workspace} has no entries${period ? ` in ${period}` : ''}.`);
  print(command, statement, describe(statement));
};

const describe = ({ workspaceId, period, opening, closing, entries }: TestStatement): string =>
  [
    `${workspaceId}, test book${period ? `, ${period}` : ''}`,
    '',
    table(
      ['account', 'opening', 'closing'],
      (Object.keys(opening) as (keyof TestBalance)[]).map((account) => [
        account,
        opening[account],
        closing[account],
      ]),
    ),
    '',
    table(
      ['revision', 'at', 'event', 'movement', 'available', 'held', 'reading', 'actor'],
      entries.map((entry) => [
        String(entry.revision),
        entry.occurredAt,
        entry.type,
        entry.unreadable ?? movement(entry.postings),
        entry.availableAfter,
        entry.heldAfter,
        entry.readingId ?? '',
        entry.actor,
      ]),
    ),
  ].join('\n');
