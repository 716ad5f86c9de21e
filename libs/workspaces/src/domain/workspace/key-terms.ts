import { instant } from '#event-sourcing/core/clock.js';
import type { ApiKeyTerms, AskedTerms, BeyondCaller, KeyManager } from '../../contracts/commands.js';
import { areWithin, readNetwork, type Network } from '../../contracts/networks.js';

/** A key that is not revoked. */
export interface StandingKey extends ApiKeyTerms {
  /** When it stops working, milliseconds since the epoch, or infinity. Its rotation may set it before `expiresAt`. */
  readonly endsAt: number;
}

/** Only bearer tokens and operators give it: a leaked key must not make keys that make keys. */
const NEVER_GIVEN_BY_KEYS = ['keys:write'];
/** Nor does a session, which opens no other: it would outlive itself. */
const NEVER_GIVEN_BY_SESSIONS = [...NEVER_GIVEN_BY_KEYS, 'portal:write'];

/**
 * The terms that a caller asks for, completed.
 * @param ordinary the scopes of a key for which none are asked
 * @param own the caller's key, if the caller uses one
 */
export const completed = (
  asked: AskedTerms,
  ordinary: readonly string[],
  own: StandingKey | null,
): ApiKeyTerms => ({
  ...asked,
  scopes: asked.scopes ?? ordinary.filter((scope) => own === null || own.scopes.includes(scope)),
  networks: asked.networks ?? own?.networks ?? [],
  expiresAt: asked.expiresAt ?? (own && endOf(own)),
});

/** The first term that the caller may not give, or `null`. */
export const beyondCaller = (
  terms: ApiKeyTerms,
  { sees, scopes, hides = [] }: KeyManager,
  own: StandingKey | null,
): BeyondCaller | null => {
  if (!sees.includes(terms.mode)) return { term: 'mode' };
  const never = scopes ? NEVER_GIVEN_BY_SESSIONS : own ? NEVER_GIVEN_BY_KEYS : [];
  const kept = terms.scopes.find((one) => never.includes(one));
  if (kept !== undefined) return { term: 'never', scope: kept };
  const ungiven = terms.scopes.find((one) => scopes && !scopes.includes(one));
  if (ungiven !== undefined) return { term: 'scopes', scope: ungiven };
  if (terms.scopes.some((one) => hides.includes(one))) return { term: 'persons' };
  if (own === null) return null;
  const scope = terms.scopes.find((one) => !own.scopes.includes(one));
  if (scope !== undefined) return { term: 'scopes', scope };
  if (!isFromWithin(terms.networks, own.networks)) return { term: 'networks' };
  return expiryOf(terms.expiresAt) > own.endsAt ? { term: 'expiresAt' } : null;
};

const endOf = ({ endsAt }: StandingKey): string | null =>
  endsAt === Number.POSITIVE_INFINITY ? null : instant(endsAt);

/** No networks at all means everywhere. */
const isFromWithin = (networks: readonly string[], own: readonly string[]): boolean =>
  own.length === 0 || (networks.length > 0 && areWithin(read(networks), read(own)));

const read = (networks: readonly string[]): readonly Network[] =>
  networks.flatMap((text) => {
    const network = readNetwork(text);
    return network ? [network] : [];
  });

export const expiryOf = (expiresAt: string | null): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
