import type { PublicEventType } from './event-types.js';

/**
 * What an endpoint may ask to be told besides the events of readings, and the values of `x-service-notice`. Never in
 * `x-service-event`: its values are a closed set.
 */
export const NOTICE_TYPES = ['batch.ended'] as const;

export type NoticeType = (typeof NOTICE_TYPES)[number];

/** What a delivery brings. */
export type DeliveredType = PublicEventType | NoticeType;

export const isNotice = (type: string): type is NoticeType => NOTICE_TYPES.some((one) => one === type);
