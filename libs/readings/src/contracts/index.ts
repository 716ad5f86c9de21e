export * from './commands.js';
export * from './events.js';
export * from './queries.js';
export * from './events.js';
export * from './ports.js';
export * from './reading-job.js';
