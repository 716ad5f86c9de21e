export * from './commands.js';
export * from './endpoint-record.js';
export * from './errors.js';
export * from './event-types.js';
export * from './events.js';
export * from './replay.js';
export * from './health.js';
export * from './secrets.js';
