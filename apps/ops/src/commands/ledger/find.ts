import type { Command } from 'commander';
import { FindLedgerEntries } from '@app/billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withProgress } from '../../progress.js';
import { withSession } from '../../session.js';

export const addFind = (ledger: Command): void => {
  ledger
    .command('find')
    .description('entries of all books with this reference: a correction, the order of a pack, an approval')
    .argument('<reference>', 'the reference, exactly as it was given')
    .addHelpText('after', '\nExample:\n  ops ledger find INC-42')
    .action(async (reference: string, _: object, command: Command) => {
      const entries = await withSession(({ queries }) =>
        withProgress('find', (progress) => queries.execute(new FindLedgerEntries(reference, progress))),
      );
      if (entries.length === 0) throw new OpsError(`No entry has the reference ${reference}.`);
      print(
        command,
        { reference, entries },
        table(
          ['workspace', 'revision', 'at', 'event', 'credits', 'by', 'reason', 'event id'],
          entries.map(
            ({ workspaceId, revision, occurredAt, type, credits, actor, reason, unreadable, eventId }) => [
              workspaceId,
              String(revision),
              occurredAt,
              type,
              credits,
              actor,
              unreadable ?? reason ?? '',
              eventId,
            ],
          ),
        ),
      );
    });
};
