import { CommandExecutor } from '#event-sourcing/handling/command-executor.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { scopedEventStore } from '#event-sourcing/store/scoped-event-store.js';
import { webhookEndpointEvents } from './contracts/events.js';
import { webhookEndpoint } from './domain/webhook-endpoint/webhook-endpoint.decider.js';

/** A frequently changed endpoint needs a cache: only its new events are read again. */
const CACHED_STREAMS = 500;

/** Runs commands on `webhookEndpoint-<id>` streams only. */
export const createWebhookEndpointExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [webhookEndpointEvents.category]),
    webhookEndpointEvents,
    webhookEndpoint,
    { cachedStreams: CACHED_STREAMS },
  );

export type WebhookEndpointExecutor = ReturnType<typeof createWebhookEndpointExecutor>;
export const WEBHOOK_ENDPOINT_EXECUTOR = Symbol('WebhookEndpointExecutor');
