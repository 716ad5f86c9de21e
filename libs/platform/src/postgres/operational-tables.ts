/**
 * What Postgres alone knows: no event tells it, so it cannot be built again and belongs into every backup. Every other
 * table is a view of a projection, but for the schemas `graphile_worker` (jobs) and `migrations`, which are operational
 * as a whole.
 */
export const OPERATIONAL_TABLES: Readonly<Record<string, string>> = {
  'event_sourcing.consumer': 'checkpoints; without those of processes, effects would be repeated',
  'event_sourcing.parked_event': 'events that views have set aside',
  'event_sourcing.skipped_event': 'who decided to skip what, and why',
  'event_sourcing.projection_version': 'versions of the tables of projections',
  'platform.subject_key': 'data keys of readings: deleting one erases what it sealed',
  'platform.key_epoch': 'when keys that wrap them were begun and destroyed; the keys are elsewhere',
  'platform.key_sweep': 'how far keys without a reading were looked for; may be lost',
  'platform.heartbeat': 'workers that live',
  'platform.rate_bucket': 'token buckets; may be lost',
  'platform.idempotent_request': 'answers to repeated requests, for seven days',
  'platform.audit_record': 'who asked for what, for as long as AUDIT_RETENTION_DAYS says',
  'platform.audit_loss': 'when requests went without an audit record, and how many',
  'workspaces.api_key_use': 'when each API key was last used, to the hour',
  'publishing.artifact': 'published bytes, sealed',
  'billing.reconciliation': 'the last reconciliation',
  'webhooks.secret': 'signing secrets, sealed',
  'webhooks.endpoint_health': 'failures in a row of each endpoint',
  'webhooks.public_event': 'what was told to receivers, numbered per reading',
  'webhooks.unreleased_failure': 'failures that are told once their credits are released',
  'webhooks.delivery': 'what is and was to be sent to whom',
  'webhooks.skipping': 'of disabled endpoints, what is still to be skipped',
  'webhooks.attempt': 'how each attempt to send ended',
  'webhooks.replay': 'replays that were asked for',
  'webhooks.lane': 'when each endpoint has something to send',
};
