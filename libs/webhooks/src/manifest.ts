import type { ModuleManifest } from '#platform/manifest.js';
import { settings } from './settings.js';

export const webhooks = {
  name: 'webhooks',
  settings,
  operationalTables: {
    'webhooks.secret': 'signing secrets, sealed',
    'webhooks.endpoint_headers': 'custom headers of endpoints, sealed',
    'webhooks.verification': 'endpoints that wait for a probe',
    'webhooks.probe_rest': 'hosts that were probed lately',
    'webhooks.notice': 'notices that were told',
    'webhooks.endpoint_hour': 'attempts by hour, endpoint and outcome',
    'webhooks.endpoint_health': 'failures in a row of each endpoint',
    'webhooks.public_event': 'public events, numbered per reading',
    'webhooks.deleted_past': 'what retention has deleted of the feeds',
    'webhooks.last_sequence': 'numbers of readings whose public events were deleted',
    'webhooks.unreleased_failure': 'failures that are sent once their credits are released',
    'webhooks.delivery': 'the queue: deliveries that are not settled',
    'webhooks.settled_delivery': 'settled deliveries with their attempts',
    'webhooks.skipping': 'deliveries of disabled endpoints still to be skipped',
    'webhooks.attempt': 'the result of each attempt at a delivery that is not settled',
    'webhooks.replay': 'requested replays',
    'webhooks.workspace_lease': 'which worker sends for each workspace',
  },
  projections: {
    'webhooks.endpoint.v1': 'endpoints and their settings',
    'webhooks.content.v1': 'what the webhook bodies of each workspace show',
  },
  processes: {
    'webhooks.fanout.v1': 'makes public events and their deliveries, and updates endpoints',
  },
  jobs: {
    'webhooks.replay': 'queues past events for one endpoint',
  },
} satisfies ModuleManifest;
