import type { ModuleManifest } from '../manifest.js';

/** Of the kernel and the platform. The schemas `graphile_worker` (jobs) and `migrations` are operational as a whole. */
const OWN_TABLES: Readonly<Record<string, string>> = {
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
};

/** What PostgreSQL alone knows of a service with these modules: no event can rebuild it, so every backup needs it. */
export const operationalTables = (
  modules: readonly Pick<ModuleManifest, 'operationalTables'>[],
): Readonly<Record<string, string>> =>
  Object.assign({}, OWN_TABLES, ...modules.map(({ operationalTables: tables }) => tables)) as Record<
    string,
    string
  >;
