import type { Session } from '../../session.js';
import { LAGS_FROM_DAYS, retentionOfAll } from '../../retention.js';
import { graded, ok, type Finding } from './finding.js';

/** Data that has outlived its term by so many days breaks a promise. */
const FAILS_FROM_DAYS = 7;

/** Data that should have been deleted. @param now milliseconds since the epoch */
export const checkRetention = async (
  session: Pick<Session, 'pool' | 'config' | 'queries'>,
  now = Date.now(),
): Promise<readonly Finding[]> => {
  const late = (await retentionOfAll(session, now)).filter(({ lagDays }) => lagDays > 0);
  if (late.every(({ lagDays }) => lagDays < LAGS_FROM_DAYS))
    return [ok('retention', 'nothing is kept longer than its term')];
  return late.map(({ kind, what, setting, days, lagDays, due }) =>
    graded(
      'retention',
      lagDays,
      [LAGS_FROM_DAYS, FAILS_FROM_DAYS],
      `${kind} (${what}) are ${lagDays} days behind ${setting} (${days}): ${due.rows} rows are due`,
      'A worker with the role upkeep deletes them every ten minutes; its log says why it does not. ops retention run does it now.',
    ),
  );
};
