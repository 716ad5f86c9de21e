/**
 * Common table expression of a statement that adds a delivery: may anything be sent to endpoint $1? $2: as far as the
 * caller knows, for an endpoint whose row is not there yet. Until the delivery is committed the endpoint cannot be
 * disabled, or it would be sent when the endpoint is enabled again.
 */
export const OPEN_ENDPOINT = `
  locked as (
    select enabled and deleted_at is null as is_open from webhooks.endpoint where endpoint_id = $1 for share
  ), open_endpoint as (
    select coalesce((select is_open from locked), $2::boolean) as is_open
  )`;
