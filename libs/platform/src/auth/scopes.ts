/** What an API key may be allowed to do. Part of the public contract, and of stored keys: a name never changes. */
export const API_KEY_SCOPES = [
  'readings:read',
  'readings:write',
  'documents:read',
  'webhooks:read',
  'webhooks:write',
  'credits:read',
  'events:read',
  'erasure',
  'keys:write',
  'portal:write',
] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** What a key may do only when it is asked for: to erase, to manage keys, and to let people into the portal. */
const ASKED_FOR: readonly ApiKeyScope[] = ['erasure', 'keys:write', 'portal:write'];

/** What a key may do when nothing else is asked for. */
export const ORDINARY_SCOPES: readonly ApiKeyScope[] = API_KEY_SCOPES.filter(
  (scope) => !ASKED_FOR.includes(scope),
);

/** Shows names and birth dates of readings to a session of the portal. A key sees them with `readings:read`. */
export const PERSONS_SCOPE = 'persons:read';
/**
 * Scopes with which a key shows what a session sees with `persons:read` alone: names, and the caller's own ids, which events
 * and deliveries have, too. With `readings:write`, a repeat of a request tells whether a reading is about a person.
 */
export const SHOW_PERSONS: readonly string[] = [
  'readings:read',
  'readings:write',
  'events:read',
  'webhooks:write',
];
/**
 * What a session of the portal may be allowed to do: what a key may, and to see persons. With `portal:write` it ends
 * other sessions, but opens none.
 */
export const SESSION_SCOPES = [...API_KEY_SCOPES, PERSONS_SCOPE] as const;
export type SessionScope = (typeof SESSION_SCOPES)[number];

const WILDCARD = 'webhooks:*';
/** How scopes are written where a key is issued. */
export const WRITABLE_SCOPES: readonly string[] = [...API_KEY_SCOPES, WILDCARD];

/** Each scope once, in the order of API_KEY_SCOPES; `webhooks:*` becomes the two scopes of webhooks. */
export const expandScopes = (written: readonly string[]): readonly ApiKeyScope[] =>
  API_KEY_SCOPES.filter(
    (scope) => written.includes(scope) || (written.includes(WILDCARD) && scope.startsWith('webhooks:')),
  );

/**
 * What a bearer token may be allowed to do: the scopes that some route takes from it. It erases with `readings:write`. A
 * token of the portal may have others, which open nothing.
 */
export const BEARER_SCOPES = [
  'readings:write',
  'webhooks:read',
  'webhooks:write',
  'credits:read',
  'events:read',
  'keys:read',
  'keys:write',
] as const;
export type BearerScope = (typeof BEARER_SCOPES)[number];

/**
 * Who may call a route: each kind of credential that it accepts, with the scope that it needs. A session of the portal
 * needs the scope of an API key.
 */
export interface NeededScopes {
  readonly apiKey?: ApiKeyScope;
  readonly bearer?: BearerScope;
}
