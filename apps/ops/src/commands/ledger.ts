import type { Command } from 'commander';
import { GetBalance, GetLedger, type LedgerEntry } from '@app/billing/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { withSession } from '../session.js';
import { addExplain } from './ledger/explain.js';
import { addExport } from './ledger/export.js';
import { movement } from './ledger/movement.js';
import { addReconcile } from './ledger/reconcile.js';
import { addVerifyFile } from './ledger/verify-file.js';
import { addVerify } from './ledger/verify.js';

export const addLedgerCommands = (ops: Command): void => {
  const ledger = ops.command('ledger').description('read the credit ledger');
  ledger
    .command('balance')
    .description('balance of a workspace, folded from its ledger')
    .requiredOption('--workspace <id>', 'the workspace')
    .addHelpText('after', '\nExample:\n  ops ledger balance --workspace ws_… --json')
    .action(async ({ workspace }: { workspace: string }, command: Command) => {
      const balance = await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        return queries.execute(new GetBalance(workspace));
      });
      if (!balance) throw new OpsError(`The workspace ${workspace} has no credit book.`);
      print(command, balance, table(['account', 'credits'], Object.entries(balance)));
    });
  ledger
    .command('statement')
    .description('every movement of a workspace, oldest first')
    .requiredOption('--workspace <id>', 'the workspace')
    .addHelpText('after', '\nExample:\n  ops ledger statement --workspace ws_…')
    .action(async ({ workspace }: { workspace: string }, command: Command) => {
      const entries = await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        return queries.execute(new GetLedger(workspace));
      });
      print(
        command,
        { workspaceId: workspace, entries },
        table(['revision', 'at', 'event', 'movement', 'available', 'held', 'reading'], entries.map(row)),
      );
    });
  addVerify(ledger);
  addExport(ledger);
  addVerifyFile(ledger);
  addExplain(ledger);
  addReconcile(ledger);
};

const row = (entry: LedgerEntry): (string | number)[] => [
  String(entry.revision),
  entry.occurredAt,
  entry.type,
  movement(entry.postings),
  entry.availableAfter,
  entry.heldAfter,
  entry.readingId ?? '',
];
