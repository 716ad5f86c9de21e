export * from './deliveries.js';
export * from './endpoints.js';
export * from './events.js';
export * from './refusals.js';
