/**
 * May anything be sent to endpoint $1? For transactions that add deliveries: the endpoint cannot be disabled until they
 * commit. Otherwise those deliveries would be sent when it is enabled again.
 */
export const LOCK_ENDPOINT = `
  select enabled and deleted_at is null as is_open from webhooks.endpoint where endpoint_id = $1 for share`;

/** The same within a statement. $2: whether it may as far as the caller knows, also of one whose row is missing. */
export const OPEN_ENDPOINT = `
  locked as (${LOCK_ENDPOINT}
  ), open_endpoint as (
    select coalesce((select is_open from locked), true) and $2::boolean as is_open
  )`;
