/**
 * May anything be sent to endpoint $1? For who adds deliveries: until they are committed the endpoint cannot be
 * disabled, or they would be sent when it is enabled again.
 */
export const LOCK_ENDPOINT = `
  select enabled and deleted_at is null as is_open from webhooks.endpoint where endpoint_id = $1 for share`;

/** The same within a statement. $2: as far as the caller knows, for an endpoint whose row is not there yet. */
export const OPEN_ENDPOINT = `
  locked as (${LOCK_ENDPOINT}
  ), open_endpoint as (
    select coalesce((select is_open from locked), $2::boolean) as is_open
  )`;
