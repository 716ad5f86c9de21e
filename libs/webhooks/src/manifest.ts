import type { ModuleManifest } from '@app/platform/manifest.js';
import { settings } from './settings.js';

export const webhooks = {
  name: 'webhooks',
  settings,
  operationalTables: {
    'webhooks.secret': 'signing secrets, sealed',
    'webhooks.endpoint_health': 'failures in a row of each endpoint',
    'webhooks.public_event': 'what was told to receivers, numbered per reading',
    'webhooks.unreleased_failure': 'failures that are told once their credits are released',
    'webhooks.delivery': 'what is and was to be sent to whom',
    'webhooks.skipping': 'of disabled endpoints, what is still to be skipped',
    'webhooks.attempt': 'how each attempt to send ended',
    'webhooks.replay': 'replays that were asked for',
    'webhooks.lane': 'when the queue of each workspace has something to send',
  },
  scopeAreas: ['webhooks', 'events'],
} satisfies ModuleManifest;
