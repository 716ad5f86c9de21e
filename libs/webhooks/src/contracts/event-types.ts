/** What an endpoint may subscribe to, and what `x-service-event` may say: a closed set. */
export const PUBLIC_EVENT_TYPES = [
  'reading.completed',
  'reading.published',
  'reading.failed',
  'reading.delayed',
] as const;

export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];
