export * from './events.js';
export * from './queries.js';
