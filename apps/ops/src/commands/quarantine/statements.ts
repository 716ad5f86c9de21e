import { JudgeStatements } from '@app/billing/contracts/index.js';
import { placeText, type Place } from '@app/event-sourcing/projections/parked-streams.js';
import { OpsError } from '../../ops-error.js';
import type { Session } from '../../session.js';

/**
 * Why a statement of an operator, or a count of one, does not count.
 * @throws OpsError when it counts, or when this program cannot tell: a quarantine would have no effect
 */
export const whyItDoesNotCount = async (
  { queries, config }: Pick<Session, 'queries' | 'config'>,
  place: Place,
): Promise<string> => {
  if (config.OPERATOR_ROOT_KEYS.length === 0)
    throw new OpsError('OPERATOR_ROOT_KEYS is not set here, so nobody knows which operators to trust.');
  const judged = await queries.execute(new JudgeStatements([place.stream]));
  const found = judged.find(({ revision }) => revision === place.revision);
  if (found?.worth === 'does not count') return found.reason;
  if (found?.worth === 'counts')
    throw new OpsError(
      `${placeText(place)} counts: a quarantine of it would have no effect. An operator can reject, withdraw or revoke.`,
    );
  throw new OpsError(
    `An operator signed what this program cannot read, in ${place.stream} or among the operators. A newer version wrote it: upgrade this one.`,
  );
};
