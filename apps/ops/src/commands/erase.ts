import type { Command } from 'commander';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { EraseReading, GetReadingSummary } from '#readings/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { withSession } from '../session.js';

export const addEraseCommand = (erase: Command): void => {
  erase
    .option('--yes', 'erase; without this, only show what would be erased')
    .addHelpText(
      'after',
      '\nExamples:\n  ops erase 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11\n  ops erase 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --yes --json',
    )
    .action(async (readingId: string, options: { yes?: boolean }, command: Command) => {
      const answer = await withSession(async ({ commands, queries, actor }) => {
        const found = await queries.execute(new GetReadingSummary(readingId));
        if (!found) throw new OpsError(`There is no reading ${readingId}.`);
        const { workspaceId, status, erasedAt } = found;
        if (!options.yes) return { readingId, workspaceId, status, erasedAt, outcome: 'not_erased' as const };
        const { outcome } = await commands.execute(
          new EraseReading(readingId, workspaceId, ownRequest(actor)),
        );
        return { readingId, workspaceId, status, erasedAt, outcome };
      });
      print(command, answer, sentence(answer.outcome, answer));
    });
};

const sentence = (
  outcome: 'not_erased' | 'erased' | 'already_erased' | 'unknown_reading',
  { readingId, workspaceId, status }: { readingId: string; workspaceId: string; status: string },
): string => {
  if (outcome === 'erased')
    return `Erased: the service can no longer read the personal data of ${readingId}. For backups, see docs/operations.md.`;
  if (outcome === 'already_erased') return 'Already erased.';
  const consequence =
    status === 'queued' || status === 'processing' ? ' The reading would fail and release its credits.' : '';
  return `Would erase the personal data of ${readingId} (${status}, ${workspaceId}).${consequence} Add --yes to do it.`;
};
