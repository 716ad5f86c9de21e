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
] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** What a key may do when nothing else is asked for: everything but to erase and to manage keys. */
export const ORDINARY_SCOPES: readonly ApiKeyScope[] = API_KEY_SCOPES.filter(
  (scope) => scope !== 'erasure' && scope !== 'keys:write',
);

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

/** Who may call a route: each kind of credential that it accepts, with the scope that it needs. */
export interface NeededScopes {
  readonly apiKey?: ApiKeyScope;
  readonly bearer?: BearerScope;
}
