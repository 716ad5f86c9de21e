import { ExamineIssuerKeys } from '#workspaces/contracts/index.js';
import type { Session } from '../../session.js';
import { failure, ok, warning, type Finding } from './finding.js';

/** Whether the portal's tokens can be verified: which of its keys work, and why the others do not. */
export const checkIssuerKeys = async ({ queries }: Session): Promise<Finding> => {
  const check = 'bearer tokens';
  const { source, used, unused, failure: reason } = await queries.execute(new ExamineIssuerKeys());
  if (source === 'nowhere') return ok(check, 'none are accepted: no issuer is configured');
  if (reason !== null) {
    return failure(
      check,
      `the issuer’s keys cannot be fetched: ${reason}`,
      'Is TOKEN_JWKS_URL right and reachable from here?',
    );
  }
  const some = `${used} ${used === 1 ? 'key' : 'keys'} of the issuer usable`;
  if (unused.length === 0 && used > 0) return ok(check, some);
  const others = unused.map(({ name, reason: why }) => `; not ${name}: ${why}`).join('');
  const advice = 'Tokens signed with such a key are refused: publish EdDSA or RS256 keys with unique kids.';
  return used === 0 ? failure(check, `${some}${others}`, advice) : warning(check, `${some}${others}`, advice);
};
