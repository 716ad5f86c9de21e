import type { Command } from 'commander';
import { addBalance } from './ledger/balance.js';
import { addExplain } from './ledger/explain.js';
import { addExport } from './ledger/export.js';
import { addFind } from './ledger/find.js';
import { addMonth } from './ledger/month.js';
import { addReconcile } from './ledger/reconcile.js';
import { addClose, addKeygen, addSeal } from './ledger/seal.js';
import { addStatement } from './ledger/statement.js';
import { addVerifyFile } from './ledger/verify-file.js';
import { addVerify } from './ledger/verify.js';

/** Commands for finance. All except close and month only read. */
export const addLedgerCommands = (ledger: Command): void => {
  for (const add of [
    addBalance,
    addStatement,
    addExplain,
    addFind,
    addVerify,
    addReconcile,
    addExport,
    addVerifyFile,
    addClose,
    addMonth,
    addSeal,
    addKeygen,
  ]) {
    add(ledger);
  }
};
