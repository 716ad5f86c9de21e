import type { ModuleManifest } from '../manifest.js';

/** Modules with their own SQL, in the order in which it may reference earlier modules. */
export type Migrated = readonly Pick<ModuleManifest, 'name'>[];

/** Every library with its own SQL, in migration order. */
export const migratedLibraries = (modules: Migrated): readonly string[] => [
  'event-sourcing',
  'platform',
  ...modules.map(({ name }) => name),
];

/** A library's schema, and the table of its migrations. */
export const schemaOf = (library: string): string => library.replaceAll('-', '_');

/** The schema of the tables of applied migrations. */
export const MIGRATIONS_SCHEMA = 'migrations';
/** The schema of graphile-worker's jobs. */
export const JOBS_SCHEMA = 'graphile_worker';

/** Schemas whose rows the service reads and writes. */
export const dataSchemas = (modules: Migrated): readonly string[] => migratedLibraries(modules).map(schemaOf);
/** All schemas of the service. */
export const serviceSchemas = (modules: Migrated): readonly string[] => [
  ...dataSchemas(modules),
  MIGRATIONS_SCHEMA,
  JOBS_SCHEMA,
];
