export * from './messages.js';
export * from './events.js';
export * from './ports.js';
export * from './reading-job.js';
