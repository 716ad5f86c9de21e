import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { count, days, flag, milliseconds, setting, span, spans } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/**
 * Days for which the row of a notice stays at least. The looks find what ends within 14 days and what happened in the last
 * 7, and the row is the memory that it was told.
 */
export const LEAST_NOTICE_DAYS = 15;

/** Allowed webhook targets, and how deliveries are sent. */
export const settings = {
  WEBHOOK_ALLOW_HTTP: flag('accept http:// webhook URLs (1 or 0)'),
  WEBHOOK_ALLOW_CIDRS: setting(
    z
      .string()
      .default('')
      .transform((text) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean),
      )
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
    'HTTP proxy (CONNECT) through which webhooks are sent, as http://host:port; its login is in WEBHOOK_PROXY_LOGIN_FILE',
  ),
  WEBHOOK_PROXY_LOGIN_FILE: setting(
    z.string().optional(),
    'file with user:password for the proxy, read again for each connection; so neither is in WEBHOOK_PROXY_URL',
  ),
  WEBHOOK_SOURCE_ADDRESSES: setting(
    z
      .string()
      .default('')
      .transform((text) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean),
      )
      .refine((addresses) => addresses.every((one) => ipaddr.isValid(one)), 'must be IP addresses')
      .refine(
        (addresses) => new Set(addresses.map((one) => one.includes(':'))).size === addresses.length,
        'must be at most one IPv4 and one IPv6 address',
      ),
    'addresses of the worker’s machine that webhooks are sent from: one IPv4, one IPv6 or both, comma-separated',
  ),
  WEBHOOK_STATS_KEPT_DAYS: days(35, 'days for which the hourly sums of attempts are kept'),
  WEBHOOK_ENDPOINTS_PER_WORKSPACE: count(16, 'webhook endpoints of a workspace for each mode, live and test'),
  WEBHOOK_ATTEMPT_TIMEOUT_MS: milliseconds(15_000, 'longest whole exchange with a receiver'),
  WEBHOOK_PROCESS_CONCURRENCY: count(
    256,
    'deliveries in flight per worker process: half of them to endpoints that answer within a second, half to slower ones',
  ),
  WEBHOOK_ENDPOINT_CONCURRENCY: count(5, 'deliveries in flight per endpoint'),
  WEBHOOK_WORKSPACE_CONCURRENCY: count(25, 'deliveries in flight per workspace'),
  WEBHOOK_RETRY_SCHEDULE_MS: spans(
    '0,5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000',
    'pause before each attempt',
  ),
  WEBHOOK_LEASE_MS: milliseconds(
    25_000,
    'how long only one worker sends for a workspace, WEBHOOK_ATTEMPT_TIMEOUT_MS and 2,000 more at least; after it, others send what a killed one left',
  ),
  WEBHOOK_DRY_RUN_WAIT_MS: span(5_000, 'longest wait of a request for the count of its dry run'),
  WEBHOOK_NOTICES_EVERY_MS: milliseconds(60_000, 'how often a worker looks for new notices'),
  WEBHOOK_NOTICES_KEPT_DAYS: days(
    400,
    'days for which notices of live mode stay in their feed',
    LEAST_NOTICE_DAYS,
  ),
  WEBHOOK_DELIVERIES_KEPT_DAYS: days(
    90,
    'how long settled webhook deliveries and their attempts are kept (days)',
  ),
  WEBHOOK_EVENTS_KEPT_DAYS: days(
    400,
    'how long events of live readings are kept for the feed and for replays (days, 30 or more)',
    30,
  ),
  WEBHOOK_DISABLE_AFTER_MS: span(
    432_000_000,
    'an endpoint without a success for this long, and 10 failures, is disabled',
  ),
};

export type Config = ConfigWith<typeof settings>;

/** A worker renews a lease every second, and starts no attempt that could outlive it. The rest is for recording the outcome. */
const LEASE_MARGIN_MS = 2_000;

/** Reports a lease that can end during an attempt: another worker would then send the same delivery beside it. */
export const requireLongLease = (
  { WEBHOOK_ATTEMPT_TIMEOUT_MS, WEBHOOK_LEASE_MS }: Config,
  context: z.RefinementCtx,
): void => {
  if (WEBHOOK_LEASE_MS < WEBHOOK_ATTEMPT_TIMEOUT_MS + LEASE_MARGIN_MS)
    context.addIssue({
      code: 'custom',
      path: ['WEBHOOK_LEASE_MS'],
      message: `must be at least WEBHOOK_ATTEMPT_TIMEOUT_MS and ${LEASE_MARGIN_MS} more`,
    });
};
