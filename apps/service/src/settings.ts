import type { z } from 'zod';
import { billing } from '#billing/manifest.js';
import { settings as platform } from '#platform/config/settings.js';
import { publishing } from '#publishing/manifest.js';
import { readings } from '#readings/manifest.js';
import { webhooks } from '#webhooks/manifest.js';
import { workspaces } from '#workspaces/manifest.js';
import { requirePortalAddress } from '../../portal/src/portal-address.js';

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
