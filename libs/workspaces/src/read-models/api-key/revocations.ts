import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';

/** The channel on which PostgreSQL tells every API process the id of a key that was revoked. */
export const API_KEY_REVOKED = 'api_key_revoked';

/** SQL that tells them, once its transaction is committed. */
export const tellRevoked = (keyId: string): Statement => sql`select pg_notify(${API_KEY_REVOKED}, ${keyId})`;
