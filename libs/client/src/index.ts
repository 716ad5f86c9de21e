export * from './client.js';
export type { Page, PageOptions } from './pages.js';
export { ProblemError, ServiceUnreachable, StillUnderWay, type AnyProblem } from './problem-error.js';
export { Readings, type DocumentFormat, type DocumentOptions, type ReadingFilter } from './readings.js';
export { etagOf, type CallOptions, type ClientOptions, type PostOptions } from './transport.js';
export * from './webhooks.js';
export * from '@reading-service/webhook-verifier';
export type * from './api.js';
