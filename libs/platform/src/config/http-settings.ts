import { milliseconds, setting, wholeNumber } from './setting.js';

/** How long connections live. What they may take is constant: `CONNECTION_LIMITS`. */
export const httpSettings = {
  HTTP_KEEP_ALIVE_MS: milliseconds(
    75_000,
    'a connection is closed when no request follows on it; longer than a load balancer in front keeps idle ones',
    // Node adds a second.
    2,
  ),
  HTTP_DRAIN_MS: setting(
    wholeNumber(1, 9_000).default(8_000),
    'longest wait for open requests at shutdown, 9,000 at most: after 9.5 s a process exits in any case (ms)',
  ),
};
