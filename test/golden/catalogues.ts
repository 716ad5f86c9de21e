import { correctionEvents, creditsEvents, orderLineEvents } from '#billing/contracts/index.js';
import type { EventCatalogue } from '#event-sourcing/core/event-catalogue.js';
import { setAsideEvents } from '#event-sourcing/projections/set-aside.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { batchEvents, readingEvents } from '#readings/contracts/index.js';
import { webhookEndpointEvents } from '#webhooks/contracts/index.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';

/** Every event that the service stores. Test books have those of the live ones. */
export const CATALOGUES = {
  workspace: workspaceEvents,
  reading: readingEvents,
  batch: batchEvents,
  publication: publicationEvents,
  credits: creditsEvents,
  orderline: orderLineEvents,
  correction: correctionEvents,
  webhookEndpoint: webhookEndpointEvents,
  setAside: setAsideEvents,
} as const satisfies Readonly<Record<string, EventCatalogue>>;
