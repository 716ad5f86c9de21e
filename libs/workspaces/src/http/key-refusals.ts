import { API_KEY_CHALLENGE } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE, SHOW_PERSONS } from '#platform/auth/scopes.js';
import { invalidRequest, Problem } from '#platform/http/problem.js';
import type { BeyondCaller, KeyRefusal } from '../contracts/commands.js';
import type { ApiKeyQuery } from '../read-models/api-key/api-key.query.js';

const unknownKey = (): Problem => new Problem('not_found', { detail: 'There is no such API key' });

/** @throws Problem for text that can be no key's id */
export const requireKeyId = (text: string): void => {
  if (!/^[0-9A-Za-z]{8}$/.test(text)) throw unknownKey();
};

/** The problem for a key that the workspace does not have, or not in a mode that the caller sees. */
export const absentKey = async (keys: ApiKeyQuery, keyId: string, workspaceId: string): Promise<Problem> => {
  const row = await keys.find(keyId);
  return row && row.workspaceId !== workspaceId ? new Problem('wrong_workspace') : unknownKey();
};

/** The problem for each refusal to issue or rotate a key. */
export const problemOf = (refusal: KeyRefusal): Problem => {
  switch (refusal.outcome) {
    case 'unknown_workspace':
      return new Problem('wrong_workspace');
    case 'unknown_key':
      return unknownKey();
    case 'own_key_ended':
      return new Problem('unauthenticated', { headers: { 'WWW-Authenticate': API_KEY_CHALLENGE } });
    case 'key_limit_reached':
      return new Problem('key_limit_reached', {
        detail: `A workspace has at most ${refusal.limit} active keys, and ten times as many with expired ones; revoke some`,
      });
    case 'beyond_caller':
      return beyond(refusal);
  }
};

const beyond = (refusal: BeyondCaller): Problem => {
  if (refusal.term === 'persons')
    return new Problem('scope_missing', {
      detail: `A session without ${PERSONS_SCOPE} gives no key ${SHOW_PERSONS.join(', ')}`,
      members: { scope: PERSONS_SCOPE },
    });
  if (refusal.term !== 'scopes' && refusal.term !== 'never')
    return invalidRequest([OUT_OF_REACH[refusal.term]]);
  const { scope } = refusal;
  return refusal.term === 'never'
    ? new Problem('auth_mode_not_allowed', {
        detail: `This kind of credential gives no key the scope ${scope}`,
      })
    : new Problem('scope_missing', {
        detail: `An API key gives only scopes that it has, and it lacks ${scope}`,
        members: { scope },
      });
};

const notAllowed = (pointer: string, detail: string) => ({ pointer, code: 'not_allowed', detail });

const OUT_OF_REACH = {
  mode: notAllowed('/mode', 'must be the mode of the credential that issues the key'),
  networks: notAllowed('/networks', 'must be within the networks of the key that issues it'),
  expiresAt: notAllowed('/expiresAt', 'must not be after the end of the key that issues it'),
} as const;
