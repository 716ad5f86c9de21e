import { milliseconds } from '@app/platform/config/setting.js';
import type { ConfigWith } from '@app/platform/config/settings.js';

/** How holds are fenced and the ledger reconciled. */
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
};

export type Config = ConfigWith<typeof settings>;
