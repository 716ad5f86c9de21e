import type { PublicEventType } from './event-types.js';

/**
 * What an endpoint may ask to be told besides the events of readings, and values of `x-service-notice`: a closed set. Never
 * in `x-service-event`: its values are a closed set of their own.
 */
export const NOTICE_TYPES = [
  'batch.ended',
  'credits.expiring',
  'credits.low',
  'endpoint.disabled',
  'endpoint.failing',
  'key.expiring',
  'replay.finished',
] as const;

export type NoticeType = (typeof NOTICE_TYPES)[number];

/** The probe of an endpoint that is not verified yet: the other value of `x-service-notice`. It is sent unasked. */
export const VERIFICATION_NOTICE = 'endpoint.verification' as const;

/** What a delivery brings. */
export type DeliveredType = PublicEventType | NoticeType;

/** Whether an endpoint may ask for it. */
export const isNotice = (type: string): type is NoticeType => NOTICE_TYPES.some((one) => one === type);
