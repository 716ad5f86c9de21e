export * from './commands.js';
export * from './content-version.js';
export * from './events.js';
export * from './publisher.js';
