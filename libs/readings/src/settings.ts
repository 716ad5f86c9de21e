import { count, milliseconds, span } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** How readings are accepted and generated. */
export const settings = {
  ENQUEUE_TIMEOUT_MS: milliseconds(2_500, 'a request not accepted within this time is answered 503'),
  BULK_TIMEOUT_MS: milliseconds(
    15_000,
    'a bulk request not accepted within this time is answered 503; its readings so far stay',
  ),
  KEY_ABANDONED_AFTER_MS: span(
    3_600_000,
    'age at which the key of a request that never became a reading is deleted',
  ),
  READINGS_IN_FLIGHT: count(1_000, 'readings of a workspace that may be queued or processing at once'),
  READING_ATTEMPTS: count(5, 'attempts at a reading before it fails'),
  READING_LEASE_MS: span(60_000, 'how long one attempt owns a reading'),
  READING_RETRY_MS: milliseconds(2_000, 'pause before the second attempt; doubles each time'),
  READING_DELAYED_AFTER_MS: span(300_000, 'a reading not finished by then sends reading.delayed'),
  READING_TIMEOUT_MS: span(86_400_000, 'a reading not finished by then fails as timed_out'),
};

export type Config = ConfigWith<typeof settings>;
