export * from './commands.js';
export * from './content-version.js';
export * from './events.js';
export * from './paper.js';
export * from './publisher.js';
export * from './queries.js';
