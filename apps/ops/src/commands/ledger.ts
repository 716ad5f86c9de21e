import type { Command } from 'commander';
import { addReconcile, addVerify, addVerifyFile } from './ledger/checks.js';
import { addKeygen, addMonth } from './ledger/months.js';
import { addBalance, addExplain, addExport, addFind, addStatement } from './ledger/reports.js';

/** Commands for finance. All except month only read. */
const addLedgerCommands = (ledger: Command): void => {
  const reports = [addBalance, addStatement, addExplain, addFind];
  const audit = [addVerify, addReconcile, addExport, addVerifyFile];
  for (const add of [...reports, ...audit, addMonth, addKeygen]) add(ledger);
};

/** By the names of the commands. */
export const commands = { ledger: addLedgerCommands };
