import type { ModuleManifest } from '../manifest.js';

/** Modules with SQL of their own, in the order in which it may refer to each other. */
export type Migrated = readonly Pick<ModuleManifest, 'name'>[];

/** Every library with SQL of its own, in the order of their migrations. */
export const migratedLibraries = (modules: Migrated): readonly string[] => [
  'event-sourcing',
  'platform',
  ...modules.map(({ name }) => name),
];

/** A library's schema, and the table of its migrations. */
export const schemaOf = (library: string): string => library.replaceAll('-', '_');

/** Which migrations were applied. */
export const MIGRATIONS_SCHEMA = 'migrations';
/** Jobs, as graphile-worker lays them out. */
export const JOBS_SCHEMA = 'graphile_worker';

/** Schemas whose rows the service reads and writes. */
export const dataSchemas = (modules: Migrated): readonly string[] => migratedLibraries(modules).map(schemaOf);
/** All that belongs to the service. */
export const serviceSchemas = (modules: Migrated): readonly string[] => [
  ...dataSchemas(modules),
  MIGRATIONS_SCHEMA,
  JOBS_SCHEMA,
];
