/**
 * SQL: whether an API key works at an instant: it is neither revoked nor expired. Reads its row of workspaces.api_key as
 * `key`.
 * @param now a parameter of the statement
 */
export const keyStands = (now: string): string =>
  `key.revoked_at is null and (key.expires_at is null or key.expires_at > ${now})`;
