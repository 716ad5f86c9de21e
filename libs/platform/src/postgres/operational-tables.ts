import type { ModuleManifest } from '../manifest.js';

/**
 * The operational tables of kernel and platform. The schemas `graphile_worker` (jobs) and `migrations` are entirely
 * operational.
 */
const OWN_TABLES: Readonly<Record<string, string>> = {
  'event_sourcing.consumer': 'checkpoints; without those of processes, effects would repeat',
  'event_sourcing.parked_stream': 'streams that wait for a consumer, and why',
  'event_sourcing.projection_version': 'versions of projection tables',
  'platform.subject_key': 'data keys of readings: deleting one erases what it sealed',
  'platform.key_epoch': 'when the keys that wrap them started and were destroyed; the keys are elsewhere',
  'platform.installation': 'which DIGEST_KEY this database is used with',
  'platform.heartbeat': 'workers that are alive',
  'platform.rate_bucket': 'token buckets; may be lost',
  'platform.idempotent_request': 'answers to idempotent requests, for seven days',
  'platform.job_turn': 'whose turn it is among waiting jobs; may be lost',
  'platform.audit_record': 'who requested what, for AUDIT_RETENTION_DAYS',
  'platform.audit_loss': 'when requests went without an audit record, and how many',
  'platform.retention_round': 'when each kind of data was last deleted after its term',
};

/** The tables of these modules that exist only in PostgreSQL: no event can rebuild them, so every backup needs them. */
export const operationalTables = (
  modules: readonly Pick<ModuleManifest, 'operationalTables'>[],
): Readonly<Record<string, string>> =>
  Object.assign({}, OWN_TABLES, ...modules.map(({ operationalTables: tables }) => tables)) as Record<
    string,
    string
  >;
