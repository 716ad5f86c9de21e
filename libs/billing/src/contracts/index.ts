export * from './audit.js';
export * from './catalogue.js';
export * from './commands.js';
export * from './corrections.js';
export * from './events.js';
export * from './queries.js';
export * from './statement.js';
