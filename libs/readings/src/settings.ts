import { count, milliseconds, span } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** How readings are accepted and generated. */
export const settings = {
  ENQUEUE_TIMEOUT_MS: milliseconds(2_500, 'a request not accepted within this time is answered 503'),
  READINGS_IN_FLIGHT: count(1_000, 'readings of a workspace that may be queued or processing at once'),
  READING_LEASE_MS: span(60_000, 'how long one attempt owns a reading'),
  READING_DELAYED_AFTER_MS: span(300_000, 'a reading not finished by then sends reading.delayed'),
  READING_TIMEOUT_MS: span(86_400_000, 'a reading not finished by then fails as timed_out'),
};

export type Config = ConfigWith<typeof settings>;
