import {
  correctionEvents,
  creditsEvents,
  orderLineEvents,
  testBookEvents,
} from '@app/billing/contracts/index.js';
import type { EventCatalogue } from '@app/event-sourcing/core/event-catalogue.js';
import { setAsideEvents } from '@app/event-sourcing/parking/set-aside.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { batchEvents, readingEvents } from '@app/readings/contracts/index.js';
import { webhookEndpointEvents } from '@app/webhooks/contracts/index.js';
import { workspaceEvents } from '@app/workspaces/contracts/index.js';

/** Every event that the service stores. */
export const CATALOGUES = {
  workspace: workspaceEvents,
  reading: readingEvents,
  batch: batchEvents,
  publication: publicationEvents,
  credits: creditsEvents,
  testbook: testBookEvents,
  orderline: orderLineEvents,
  correction: correctionEvents,
  webhookEndpoint: webhookEndpointEvents,
  setAside: setAsideEvents,
} as const satisfies Readonly<Record<string, EventCatalogue>>;
