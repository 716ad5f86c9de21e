import type { z } from 'zod';
import type { PortalAddress } from '#workspaces/contracts/index.js';
import { billing } from '#billing/manifest.js';
import { settings as platform } from '#platform/config/settings.js';
import { publishing } from '#publishing/manifest.js';
import { readings } from '#readings/manifest.js';
import { webhooks } from '#webhooks/manifest.js';
import { workspaces } from '#workspaces/manifest.js';

/** Addresses that only this machine reaches. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

/**
 * Reports a portal whose session cookie no browser would keep. Browsers keep it over https, and over http from this
 * machine.
 */
const requirePortalAddress = (
  { PORTAL, HOST, PUBLIC_URL }: PortalAddress,
  context: z.RefinementCtx,
): void => {
  if (!PORTAL) return;
  const { protocol, hostname, pathname } = new URL(PUBLIC_URL ?? 'http://unknown');
  const isLocal = LOOPBACK.test(PUBLIC_URL === undefined ? HOST : hostname);
  if ((protocol === 'https:' || isLocal) && pathname === '/') return;
  context.addIssue({
    code: 'custom',
    path: ['PORTAL'],
    message: 'needs PUBLIC_URL as https://host without a path, or a HOST of this machine alone',
  });
};

/** Every environment variable of the service: the platform's and those of each module. */
export const settings = platform
  .safeExtend({
    ...workspaces.settings,
    ...readings.settings,
    ...publishing.settings,
    ...billing.settings,
    ...webhooks.settings,
  })
  .superRefine(requirePortalAddress);

export type Config = z.infer<typeof settings>;
