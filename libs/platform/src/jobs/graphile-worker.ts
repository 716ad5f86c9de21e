/** Loaded by what runs jobs or installs their tables: most programs only add jobs. */
export { Logger, run, runMigrations } from 'graphile-worker';
