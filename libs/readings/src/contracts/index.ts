export * from './commands.js';
export * from './events.js';
export * from './queries.js';
export * from './failures.js';
export * from './ports/index.js';
export * from './reading-job.js';
