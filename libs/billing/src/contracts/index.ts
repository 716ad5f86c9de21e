export * from './audit.js';
export * from './catalogue.js';
export * from './commands.js';
export * from './events.js';
export * from './export.js';
export * from './money.js';
export * from './month.js';
export * from './queries.js';
