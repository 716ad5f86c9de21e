import { sql, type Statement } from '#event-sourcing/projections/statement.js';
import { hostOfUrl } from '../../domain/url/webhook-url.js';

/** No workspace makes the service probe a host more often than this. */
export const PROBE_REST_MS = 60_000;

/** An endpoint waits for a probe of this URL. The same event twice changes nothing; another URL begins anew. @param at RFC 3339 */
export const askForProbe = (endpointId: string, url: string, at: string): Statement => sql`
  insert into webhooks.verification as known (endpoint_id, url, host, asked_at, due_at)
  values (${endpointId}, ${url}, ${hostOfUrl(url)}, ${at}, ${at})
  on conflict (endpoint_id) do update
  set url = excluded.url, host = excluded.host, asked_at = excluded.asked_at, attempts = 0, last_error = null,
      due_at = excluded.due_at
  where known.url <> excluded.url`;

/** The next probe comes at once, or when the host has had its rest. @param at RFC 3339 */
export const probeAgain = (endpointId: string, at: string): Statement => sql`
  update webhooks.verification set attempts = 0, due_at = ${at}
  where endpoint_id = ${endpointId}`;

/** The endpoint needs no probe (any more). */
export const endProbes = (endpointId: string): Statement =>
  sql`delete from webhooks.verification where endpoint_id = ${endpointId}`;
