import { z } from 'zod';
import { milliseconds, setting } from '@app/platform/config/setting.js';
import type { ConfigWith } from '@app/platform/config/settings.js';

/** An account in the company's own books, as its journal names it. */
const accountCode = (fallback: string, description: string) =>
  setting(z.string().min(1).max(40).default(fallback), `account code in journal.csv: ${description}`);

/** How holds are fenced, the ledger reconciled, and its journal written. */
export const settings = {
  RESERVATION_FENCE_MS: milliseconds(
    60_000,
    'age at which a hold without a reading is abandoned and released',
  ),
  RESERVATION_SWEEP_MS: milliseconds(15_000, 'interval between sweeps for holds without a reading'),
  LEDGER_RECONCILE_EVERY_MS: milliseconds(
    3_600_000,
    'how often one worker compares captures, completed readings and balances',
  ),
  LEDGER_RECONCILE_GRACE_MS: milliseconds(
    60_000,
    'how long a completed reading may wait for its capture before it counts as a difference',
  ),
  LEDGER_ACCOUNT_RECEIVABLE: accountCode('1200', 'what customers owe or paid for plans and packs'),
  LEDGER_ACCOUNT_DEFERRED: accountCode('2400', 'value of credits sold and not yet used'),
  LEDGER_ACCOUNT_REVENUE: accountCode('4000', 'value of credits that readings earned'),
  LEDGER_ACCOUNT_BREAKAGE: accountCode('4100', 'value of credits that expired'),
  LEDGER_ACCOUNT_CORRECTIONS: accountCode('4900', 'value of credits that corrections removed'),
};

export type Config = ConfigWith<typeof settings>;
