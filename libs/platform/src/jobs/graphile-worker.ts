/** Loaded by what runs jobs: most programs only add them. */
export { Logger, run } from 'graphile-worker';
