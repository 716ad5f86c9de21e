import type { Command } from 'commander';
import { addReconcile, addVerify, addVerifyFile } from './ledger/checks.js';
import { addClose, addKeygen, addMonth, addSeal } from './ledger/months.js';
import { addBalance, addExplain, addExport, addFind, addStatement } from './ledger/reports.js';

/** Commands for finance. All except close and month only read. */
const addLedgerCommands = (ledger: Command): void => {
  const reports = [addBalance, addStatement, addExplain, addFind];
  const audit = [addVerify, addReconcile, addExport, addVerifyFile];
  for (const add of [...reports, ...audit, addClose, addMonth, addSeal, addKeygen]) add(ledger);
};

/** By the names of the commands. */
export const commands = { ledger: addLedgerCommands };
