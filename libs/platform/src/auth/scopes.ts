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
