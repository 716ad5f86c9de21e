import type { RetentionStatus } from '#platform/retention/retention-status.js';
import type { Session } from '../../session.js';
import { BY_WORKERS_ALONE, LAGS_FROM_DAYS, retentionOfAll } from '../../retention.js';
import { graded, ok, warning, type Finding } from './finding.js';

/** Data that has outlived its term by so many days breaks a promise. */
const FAILS_FROM_DAYS = 7;

/** Data that should have been deleted. @param now milliseconds since the epoch */
export const checkRetention = async (
  session: Pick<Session, 'pool' | 'config' | 'queries'>,
  now = Date.now(),
): Promise<readonly Finding[]> => {
  const all = await retentionOfAll(session, now);
  const late = all.filter(({ lagDays }) => lagDays > 0);
  const waiting = waitsFor(all);
  if (late.every(({ lagDays }) => lagDays < LAGS_FROM_DAYS))
    return waiting.length > 0 ? waiting : [ok('retention', 'nothing is kept longer than its term')];
  const overdue = late.map(({ kind, what, setting, days, lagDays, due }) =>
    graded(
      'retention',
      lagDays,
      [LAGS_FROM_DAYS, FAILS_FROM_DAYS],
      `${kind} (${what}) are ${lagDays} days behind ${setting} (${days}): ${due.rows} rows are due`,
      `A worker with the role upkeep deletes them; its log says why it does not.${
        BY_WORKERS_ALONE.includes(kind) ? '' : ' ops retention run does it now.'
      }`,
    ),
  );
  return [...waiting, ...overdue];
};

const waitsFor = (all: readonly RetentionStatus[]): readonly Finding[] =>
  all
    .filter(({ waitsSince }) => waitsSince !== null)
    .slice(0, 1)
    .map(({ waitsSince }) =>
      warning(
        'retention',
        `workers delete nothing after its term: the last round was at ${waitsSince}`,
        'No worker ran, or the clock jumped ahead. When the clock is right, look at ops retention run --dry-run; ops retention run lets workers continue.',
      ),
    );
