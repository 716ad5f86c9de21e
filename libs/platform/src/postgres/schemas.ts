/** Every library with SQL of its own, in the order in which they may refer to each other. */
export const MIGRATED_LIBRARIES = [
  'event-sourcing',
  'platform',
  'workspaces',
  'readings',
  'publishing',
  'billing',
  'webhooks',
] as const;

/** A library's schema, and the table of its migrations. */
export const schemaOf = (library: string): string => library.replaceAll('-', '_');

/** Which migrations were applied. */
export const MIGRATIONS_SCHEMA = 'migrations';
/** Jobs, as graphile-worker lays them out. */
export const JOBS_SCHEMA = 'graphile_worker';

/** Schemas whose rows the service reads and writes. */
export const DATA_SCHEMAS: readonly string[] = MIGRATED_LIBRARIES.map(schemaOf);
/** All that belongs to the service. */
export const SERVICE_SCHEMAS: readonly string[] = [...DATA_SCHEMAS, MIGRATIONS_SCHEMA, JOBS_SCHEMA];
