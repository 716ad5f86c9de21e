export {
  Events,
  Keys,
  Portal,
  ReadingServiceClient,
  type EventFilter,
  type NoticeFilter,
  type PageOf,
} from './client.js';
export type { Page, PageOptions } from './pages.js';
export { ProblemError, ServiceUnreachable, StillUnderWay, type AnyProblem } from './problem-error.js';
export {
  Readings,
  type DocumentFormat,
  type DocumentOptions,
  type DocumentV1,
  type ReadingFilter,
} from './readings.js';
export { etagOf, type CallOptions, type ClientOptions, type PostOptions } from './transport.js';
export { Webhooks, type DeliveryFilter } from './webhooks.js';
export * from '@reading-service/webhook-verifier';
export type * from './api.js';
