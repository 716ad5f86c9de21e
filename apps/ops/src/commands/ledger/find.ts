import type { Command } from 'commander';
import { FindLedgerEntries } from '#billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withProgress } from '../../progress.js';
import { withSession } from '../../session.js';

export const addFind = (ledger: Command): void => {
  ledger
    .command('find')
    .description(
      'entries of all books with this reference or correction id: corrections, packs by order, approvals',
    )
    .argument('<reference>', 'the reference, exactly as it was given, or the id of a correction')
    .addHelpText('after', '\nExample:\n  ops ledger find INC-42')
    .action(async (reference: string, _: object, command: Command) => {
      const entries = await withSession(({ queries }) =>
        withProgress('find', (progress) => queries.execute(new FindLedgerEntries(reference, progress))),
      );
      if (entries.length === 0) throw new OpsError(`No entry has the reference or correction ${reference}.`);
      print(
        command,
        { reference, entries },
        table(
          [
            'workspace',
            'revision',
            'at',
            'event',
            'credits',
            'by',
            'approved by',
            'correction',
            'reason',
            'event id',
          ],
          entries.map((one) => [
            one.workspaceId,
            String(one.revision),
            one.occurredAt,
            one.type,
            one.credits,
            one.actor || 'unknown',
            one.approvedBy ?? '',
            one.correctionId ?? '',
            one.unreadable ?? one.reason ?? '',
            one.eventId,
          ]),
        ),
      );
    });
};
