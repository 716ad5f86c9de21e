export * from './verification-error.js';
export * from './verify-webhook.js';
export type * from './webhook-event.js';
