import { sql, type Statement } from '#event-sourcing/projections/statement.js';

/** The channel on which PostgreSQL notifies every API process of a revoked key's id. */
export const API_KEY_REVOKED = 'api_key_revoked';

/** SQL that sends the notification when its transaction commits. */
export const notifyRevoked = (keyId: string): Statement =>
  sql`select pg_notify(${API_KEY_REVOKED}, ${keyId})`;
