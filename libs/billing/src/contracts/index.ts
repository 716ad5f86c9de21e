export * from './audit.js';
export * from './catalogue.js';
export * from './commands.js';
export * from './date-repair.js';
export * from './events.js';
export * from './queries.js';
