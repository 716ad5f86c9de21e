import {
  correctionEvents,
  creditsEvents,
  orderLineEvents,
  testBookEvents,
} from '#billing/contracts/index.js';
import type { EventCatalogue } from '#event-sourcing/core/event-catalogue.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { setAsideEvents } from '#event-sourcing/parking/set-aside.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { batchEvents, readingEvents } from '#readings/contracts/index.js';
import { webhookEndpointEvents } from '#webhooks/contracts/index.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';

const CATALOGUES: readonly EventCatalogue[] = [
  workspaceEvents,
  readingEvents,
  batchEvents,
  publicationEvents,
  creditsEvents,
  testBookEvents,
  orderLineEvents,
  correctionEvents,
  webhookEndpointEvents,
  setAsideEvents,
];

/** The events of a stream's category; `null` when the service has no such streams. */
export const catalogueOf = (stream: string): EventCatalogue | null =>
  CATALOGUES.find(({ category }) => category === categoryOf(stream)) ?? null;
