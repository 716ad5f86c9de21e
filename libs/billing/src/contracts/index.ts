export * from './audit.js';
export * from './catalogue.js';
export * from './messages.js';
export * from './corrections.js';
export * from './events.js';
export * from './statement.js';
