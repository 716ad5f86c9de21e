import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { count, days, flag, milliseconds, setting, spans } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** Allowed webhook targets, and how deliveries are sent. */
export const settings = {
  WEBHOOK_ALLOW_HTTP: flag('accept http:// webhook URLs (1 or 0)'),
  WEBHOOK_ALLOW_CIDRS: setting(
    z
      .string()
      .default('')
      .transform((text) => text.split(/[\s,]+/).filter(Boolean))
      .refine(
        (ranges) => ranges.every((range) => ipaddr.isValidCIDR(range)),
        'must be ranges such as 10.0.0.0/8',
      ),
    'private ranges webhooks may reach, comma-separated, for tests and self-hosting; metadata addresses stay closed',
  ),
  WEBHOOK_VERIFY_ENDPOINTS: flag(
    'send events to a host that is new in its workspace only after it answered a signed probe (1 or 0)',
  ),
  WEBHOOK_PROXY_URL: setting(
    z
      .url({ protocol: /^http$/, error: 'must be of the form http://host:port' })
      .refine(
        (text) => /^http:\/\/([^/?#%]|%[0-7][0-9a-f])+\/?$/i.test(text),
        'must be of the form http://host:port',
      )
      .optional(),
    'HTTP proxy (CONNECT) through which webhooks are sent, as http://host:port, or with a login as http://user:password@host:port',
  ),
  WEBHOOK_ATTEMPT_TIMEOUT_MS: milliseconds(
    15_000,
    'longest whole exchange with a receiver; ten seconds more, and others send what a killed worker left',
  ),
  WEBHOOK_PROCESS_CONCURRENCY: count(
    256,
    'deliveries in flight per worker process: half of them to endpoints that answer within a second, half to slower ones',
  ),
  WEBHOOK_RETRY_SCHEDULE_MS: spans(
    '0,5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000',
    'pause before each attempt',
  ),
  WEBHOOK_DELIVERIES_KEPT_DAYS: days(
    90,
    'how long settled webhook deliveries and their attempts are kept (days)',
  ),
  WEBHOOK_EVENTS_KEPT_DAYS: days(
    400,
    'how long events of live readings, with their feed and replays, and notices of live mode are kept (days, 30 or more)',
    30,
  ),
};

export type Config = ConfigWith<typeof settings>;
