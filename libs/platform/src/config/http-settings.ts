import { count, milliseconds, setting, span, wholeNumber } from './setting.js';

/** What the API takes of one request, one connection and one address, and how long it waits for each. */
export const httpSettings = {
  HTTP_BODY_LIMIT_BYTES: count(16_384, 'largest request body (bytes)'),
  HTTP_BULK_LIMIT_BYTES: count(
    4_194_304,
    'largest body of a bulk request; a process holds 16 times as much at once, of one workspace 4 times (bytes)',
  ),
  HTTP_HEADERS_TIMEOUT_MS: milliseconds(
    8_000,
    'a connection is closed when it sends the headers of a request more slowly',
  ),
  HTTP_REQUEST_TIMEOUT_MS: milliseconds(
    30_000,
    'a connection is closed when it sends a whole request more slowly',
  ),
  HTTP_KEEP_ALIVE_MS: milliseconds(
    75_000,
    'a connection is closed when no request follows on it; longer than a load balancer in front keeps idle ones',
    // Node adds a second.
    2,
  ),
  HTTP_CONNECTIONS: count(10_000, 'open connections per API process; further ones are closed'),
  HTTP_CONNECTIONS_PER_ADDRESS: count(
    500,
    'open connections from one address; not checked with TRUSTED_PROXIES, because connections then come from the proxies',
  ),
  HTTP_WAITING_REQUESTS: count(
    4,
    'pipelined requests that may wait on one connection; with more, the connection is closed',
    0,
  ),
  HTTP_ANSWER_TIMEOUT_MS: span(60_000, 'a connection is closed when it takes longer to receive a response'),
  HTTP_REFUSAL_HOLD_MS: milliseconds(
    1_000,
    'average delay of a 429 for an address, so that an immediate retry gains nothing',
    // A single one varies, up to one and a half of it.
    2,
  ),
  HTTP_DRAIN_MS: setting(
    wholeNumber(1, 9_000).default(8_000),
    'longest wait for open requests at shutdown, 9,000 at most: after 9.5 s a process exits in any case (ms)',
  ),
};
