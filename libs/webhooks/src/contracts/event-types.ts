/** Event types that an endpoint may subscribe to, and the values of `x-service-event`: a closed set. */
export const PUBLIC_EVENT_TYPES = [
  'reading.completed',
  'reading.published',
  'reading.failed',
  'reading.delayed',
] as const;

export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];
