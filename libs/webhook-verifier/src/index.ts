export { WebhookVerificationError, type VerificationFailure } from './verification-error.js';
export { verifyWebhook, type VerifyOptions, type WebhookHeaders } from './verify-webhook.js';
export type {
  PublishedDocument,
  ReadingError,
  UnpublishedDocument,
  WebhookBody,
  WebhookEvent,
  WebhookEventType,
  WebhookNotice,
  WebhookNoticeType,
} from './webhook-event.js';
