export * from './commands.js';
export * from './events.js';
export * from './networks.js';
export * from './queries.js';
export * from './portal.js';
